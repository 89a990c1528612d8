package follow

import (
	"cmp"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// Home is a home of a token that is called, as the members name it: each chooses the homes from its own view.
type Home struct {
	Slot   int    `json:"slot,omitempty"`
	Name   string `json:"name"`
	Member string `json:"member"`
	// Named counts the members that name it, Of those that name any, First those that call it first.
	Named int `json:"named"`
	Of    int `json:"of"`
	First int `json:"first"`
	// Missing is why it has not answered. Queue is who waits, as it knows; nil if it has not answered, or says that it
	// keeps no queue.
	Missing string         `json:"missing,omitempty"`
	Queue   *control.Queue `json:"queue,omitempty"`
}

const (
	// mostSlots is how many tokens of a gate are looked at: as many as a gate can have.
	mostSlots = 64
	// mostHomes is how many homes of one member are read: more than a token can have.
	mostHomes = 8
	// mostWaiters is how many of those that wait are kept of a home's answer.
	mostWaiters = 9
)

// calledAt returns what a member knows of a token that is called; nil if it has not answered, or the token goes round.
func (r *Row) calledAt(slot int) *control.Called {
	if r.Gate == nil {
		return nil
	}
	if list := r.Gate.CalledTokens(); slot < len(list) {
		return list[slot]
	}
	return nil
}

// Homes returns the homes of the tokens of a gate: of each slot, those that most members call first. There are none if
// the tokens go round.
func Homes(rows []Row) (homes []Home) {
	for slot := range mostSlots {
		of, begin := 0, len(homes)
		for i := range rows {
			c := rows[i].calledAt(slot)
			if c == nil || len(c.Homes) == 0 {
				continue
			}
			of++
			for rank, named := range c.Homes[:min(len(c.Homes), mostHomes)] {
				at := slices.IndexFunc(homes[begin:], func(h Home) bool { return h.Member == named.Member })
				if at < 0 {
					at = len(homes) - begin
					homes = append(homes, newHome(rows, slot, named))
				}
				h := &homes[begin+at]
				h.Named++
				if rank == 0 {
					h.First++
				}
			}
		}
		if of == 0 {
			break
		}
		for i := range homes[begin:] {
			homes[begin+i].Of = of
		}
		slices.SortStableFunc(homes[begin:], func(a, b Home) int {
			return cmp.Or(cmp.Compare(b.First, a.First), cmp.Compare(b.Named, a.Named))
		})
	}
	return homes
}

// newHome returns a home with what it has reported itself.
func newHome(rows []Row, slot int, named control.Guardian) Home {
	h := Home{Slot: slot, Name: named.Name, Member: named.Member, Missing: "is not among the members that were asked"}
	for i := range rows {
		if r := &rows[i]; r.Member == named.Member {
			if h.Name, h.Missing = r.Name, r.Missing; r.Missing == "" {
				if c := r.calledAt(slot); c != nil && c.Queue != nil {
					q := *c.Queue
					q.Oldest = q.Oldest[:min(len(q.Oldest), mostWaiters)]
					h.Queue = &q
				}
			}
		}
	}
	return h
}

// Waiting returns the members that are due and wait for the token; if it is called, those that have waited longest come
// first, as they get it.
func Waiting(rows []Row, now time.Time) (waiting []*Row) {
	for i := range rows {
		if r := &rows[i]; r.Gate != nil && !r.Gate.Running && !r.Running && r.Awaits && !r.NextRun.After(now) {
			waiting = append(waiting, r)
		}
	}
	if len(waiting) > 0 && waiting[0].calledAt(0) != nil {
		slices.SortStableFunc(waiting, func(a, b *Row) int { return a.DueSince.Compare(b.DueSince) })
	}
	return waiting
}
