package wander

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// Family is the soft gate, as shells and simulator know it.
func Family() policy.Family {
	return policy.Family{
		Name: "wander", Version: 1, Notes: slices.Concat(handoff.Notes(), guardian.Notes(), Notes()), WellFormed: wellFormed, Doubt: doubt,
	}
}

// wellFormed reports whether m is a message of a soft gate, and has what those of its kind have. An Inquiry is about no token but its
// slot; a Seen says how long ago one was there.
func wellFormed(m *wire.Message) bool {
	switch {
	case m.Kind == wire.KindInquiry:
		return m.Handoff != 0 && m.Nonce == 0 && m.Token == wire.Token{Slot: m.Token.Slot, LastSlot: m.Token.LastSlot}
	case m.Kind == wire.KindSeen:
		return m.Token.IsWhole() && m.Nonce != 0 && m.Handoff != 0
	case m.Kind.OfHandoff():
		return handoff.WellFormed(m)
	}
	return guardian.WellFormed(m)
}
