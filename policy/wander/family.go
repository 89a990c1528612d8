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

// wellFormed reports whether m is a message of a soft gate, and has what those of its kind have. A holder has no lease to lend. An Inquiry is
// about no token but its slot; a Seen says how long ago one was there.
func wellFormed(m *wire.Message) bool {
	switch m.Kind {
	case wire.KindAck, wire.KindCommit:
		return handoff.WellFormed(m) && m.Load == wire.Load{}
	case wire.KindToken:
		return handoff.WellFormed(m) && guardian.WellFormedTrail(&m.Load) && wellFormedLoad(&m.Load, m.Token.Slot)
	case wire.KindInquiry:
		var load wire.Load
		SetLastSlot(&load, LastSlotOf(&m.Load))
		return m.Exchange != 0 && m.Nonce == 0 && m.Token == wire.Ref{Slot: m.Token.Slot} && m.Load == load && wellFormedLoad(&load, m.Token.Slot)
	case wire.KindSeen:
		whole := m.Token.IsWhole() && guardian.WellFormedTrail(&m.Load) && wellFormedLoad(&m.Load, m.Token.Slot)
		return whole && m.Nonce != 0 && m.Exchange != 0
	}
	return guardian.WellFormed(m) && wellFormedLoad(&m.Load, m.Token.Slot)
}
