package beyond

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/study"
)

// holders is who holds a token, by what the machines say of themselves.
type holders struct {
	holds []bool
	count int
	// noneAt is when the last one that was held was given up.
	noneAt policy.Time
	// since is since when there has been no more than one holder, and never none for longer than a handoff may take.
	since policy.Time
}

func newHolders(members int) holders { return holders{holds: make([]bool, members)} }

// watch follows one occurrence. A holder changes only with a note.
func (h *holders) watch(c *sim.Cluster, o *sim.Occurrence) {
	switch {
	case o.Ends():
		h.set(o.At, o.Member, false)
	case o.Kind == sim.Stepped:
		for i := range o.Effects {
			if o.Effects[i].Kind == policy.Tell {
				h.set(o.At, o.Member, c.Status(o.Member).Holding)
				return
			}
		}
	}
}

func (h *holders) set(now policy.Time, member int, holding bool) {
	if h.holds[member] == holding {
		return
	}
	h.holds[member] = holding
	if holding {
		if h.count == 0 && !h.passing(now) {
			h.since = now
		}
		h.count++
		return
	}
	h.count--
	switch h.count {
	case 0:
		h.noneAt = now
	case 1:
		h.since = now
	}
}

// passing reports whether nobody holds a token because it may be on its way: a handoff takes no longer than skip.
func (h *holders) passing(now policy.Time) bool {
	return h.count == 0 && now.Sub(h.noneAt) <= study.Skip
}

// one reports whether there has been exactly one token for so long.
func (h *holders) one(now policy.Time, quiet time.Duration) bool {
	return (h.count == 1 || h.passing(now)) && now.Sub(h.since) >= quiet
}

// only returns the member that holds a token, if there is exactly one.
func (h *holders) only() (member int, ok bool) {
	if h.count != 1 {
		return 0, false
	}
	for i, holds := range h.holds {
		if holds {
			return i, true
		}
	}
	return 0, false
}
