package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
)

// Progress recognises the state that a healthy cluster must reach: there is exactly one token, and every member that is
// up has run its operation under it. Where there are callers beside the operation, each member must also have run for a
// caller. Progress is a [sim.Watcher] and never has an error: the caller decides how long to wait.
type Progress struct {
	slots []slotProgress
	// ran are the members that have run since each slot has had its present token. served are those that have run for a
	// caller beside their operation.
	ran, served map[int]bool
	// beside is true if there are such callers.
	beside bool
	// mixed is true if members disagree on the number of tokens. Then a sweep may leave some members out, and the last
	// slot may have no token if the token falls to members that do not know of it.
	mixed bool
	view  sim.SlotView
}

// slotProgress is the progress of one slot. token is the copy that was held last, and since is from when it was.
type slotProgress struct {
	copies check.Copies
	token  int
	since  policy.Time
}

// NewProgress returns the progress of one run of a scenario.
func NewProgress(s *Scenario) *Progress {
	p := &Progress{
		slots: make([]slotProgress, s.Tokens()), ran: map[int]bool{}, served: map[int]bool{},
		beside: s.Demand.Beside, mixed: s.MixedSlots,
	}
	for i := range p.slots {
		p.slots[i].copies = check.NewCopies()
	}
	return p
}

// begin starts again: what was held so far does not count.
func (p *Progress) begin() {
	for i := range p.slots {
		p.slots[i].token, p.slots[i].since = 0, 0
	}
	clear(p.ran)
	clear(p.served)
}

// Watch implements [sim.Watcher]. It starts again whenever another token is held.
func (p *Progress) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		delete(p.ran, o.Member)
		delete(p.served, o.Member)
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
			clear(p.served)
		}
		for e := range mine.Did(policy.Run) {
			if e.Demanded {
				p.served[o.Member] = true
			} else {
				p.ran[o.Member] = true
			}
		}
	}
	return nil
}

// Reached reports whether every member that is up has run under the one token of its slot, and no other token was held
// for the time quiet, which is long enough for any other token to show itself.
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
		if c.Up(i) && !(p.ran[i] && (p.served[i] || !p.beside)) && !p.mixed {
			return false
		}
	}
	return true
}

// since returns the latest time from which a slot has had one token.
func (p *Progress) since() (latest policy.Time) {
	for i := range p.slots {
		latest = max(latest, p.slots[i].since)
	}
	return latest
}
