package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
)

// Progress watches for the state that a cluster without faults has to reach: one token is there, and only one, and under it
// every member that is up has run its operation. It is a [sim.Watcher] and never has an error: how long to wait is for the one
// who asks.
type Progress struct {
	slots []slotProgress
	// ran are those who have run since each slot has had its present token.
	ran map[int]bool
	// mixed says that members disagree on how many tokens there are. Then a sweep may leave some of them out, and the last slot
	// may have no token, if it falls to members who do not know of it.
	mixed bool
	view  sim.SlotView
}

// slotProgress is one slot's: token is the copy that was held last, since since.
type slotProgress struct {
	copies check.Copies
	token  int
	since  policy.Time
}

// NewProgress returns a progress that has seen nothing of a scenario.
func NewProgress(s *Scenario) *Progress {
	p := &Progress{slots: make([]slotProgress, max(s.Slots, 1)), ran: map[int]bool{}, mixed: s.MixedSlots}
	for i := range p.slots {
		p.slots[i].copies = check.NewCopies()
	}
	return p
}

// Watch notices which tokens are held, and begins anew whenever one is another.
func (p *Progress) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		delete(p.ran, o.Member)
	}
	for i := range p.slots {
		mine := o
		if len(p.slots) > 1 {
			mine = p.view.Of(o, uint8(i))
		}
		if mine == nil {
			continue
		}
		s := &p.slots[i]
		s.copies.Watch(mine)
		held := s.copies.Of(o.Member)
		if !o.Completes() || held == 0 {
			continue
		}
		if held != s.token {
			s.token, s.since = held, o.At
			clear(p.ran)
		}
		for k := range mine.Effects {
			if mine.Effects[k].Kind == policy.Run {
				p.ran[o.Member] = true
			}
		}
	}
	return nil
}

// Reached reports whether every member that is up has run under the one token of each slot that was held, by anybody, for as
// long as quiet: long enough for any other token to have shown itself.
func (p *Progress) Reached(c *sim.Cluster, quiet time.Duration) bool {
	for i := range p.slots {
		if p.mixed && i == len(p.slots)-1 {
			continue
		}
		if s := &p.slots[i]; s.token == 0 || c.Now().Sub(s.since) < quiet {
			return false
		}
	}
	for i := range c.Members() {
		if c.Up(i) && !p.ran[i] && !p.mixed {
			return false
		}
	}
	return true
}

// since is when the last token came to be the only one of its slot.
func (p *Progress) since() (latest policy.Time) {
	for i := range p.slots {
		latest = max(latest, p.slots[i].since)
	}
	return latest
}
