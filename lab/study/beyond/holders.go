package beyond

import (
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// holders counts the holders of tokens, by the machines' own effects.
type holders struct {
	// hands is the number of tokens of each member. count is the number of members with a token.
	hands []int8
	count int
	// noneAt is when the last held token was given up.
	noneAt policy.Time
	// since is the beginning of the time in which there was never more than one holder, and never none for longer than
	// a handoff may take.
	since policy.Time
}

func newHolders(members int) holders { return holders{hands: make([]int8, members)} }

func (h *holders) watch(o *sim.Occurrence) {
	hands := h.hands[o.Member]
	if o.Ends() {
		hands = 0
	}
	for range o.Did(policy.Took) {
		hands++
	}
	for range o.Did(policy.Gave) {
		hands--
	}
	h.set(o.At, o.Member, hands)
}

func (h *holders) set(now policy.Time, member int, hands int8) {
	held, holds := h.hands[member] > 0, hands > 0
	h.hands[member] = hands
	if held == holds {
		return
	}
	if holds {
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

// passing reports whether no member holds the token because it may be in a handoff, which takes no longer than skip.
func (h *holders) passing(now policy.Time) bool {
	return h.count == 0 && now.Sub(h.noneAt) <= study.Skip
}

// one reports whether there has been exactly one token for the time quiet.
func (h *holders) one(now policy.Time, quiet time.Duration) bool {
	return (h.count == 1 || h.passing(now)) && now.Sub(h.since) >= quiet
}

// only returns the only holder, if there is exactly one.
func (h *holders) only() (member int, ok bool) {
	if h.count != 1 {
		return 0, false
	}
	for i, hands := range h.hands {
		if hands > 0 {
			return i, true
		}
	}
	return 0, false
}
