package wander

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/wire"
)

// Family describes the soft gate to shells and simulator.
func Family() policy.Family {
	return policy.Family{
		ID: 1, Name: "wander", Version: 1, Kinds: Kinds(), Notes: slices.Concat(handoff.Notes(), guardian.Notes(), Notes(), pace.Notes()), WellFormed: wellFormed, Doubt: doubt,
	}
}

// wellFormed reports whether m is a message of a soft gate, and has the fields of its kind. A holder has no lease to lend.
func wellFormed(m *wire.Message) bool {
	if m.Kind == handoff.KindAck || m.Kind == handoff.KindCommit {
		return handoff.WellFormed(m) && m.Load == wire.Load{}
	}
	if !guardian.WellFormedTrail(&m.Load) || !wellFormedLoad(&m.Load, m.Token.Slot) {
		return false
	}
	switch m.Kind {
	case handoff.KindToken:
		return handoff.WellFormed(m)
	case KindInquiry:
		var only wire.Load
		SetLastSlot(&only, LastSlotOf(&m.Load))
		return m.Exchange != 0 && m.Nonce == 0 && m.Token == wire.Ref{Slot: m.Token.Slot} && m.Load == only
	case KindUnseen:
		trail := guardian.TrailOf(&m.Load)
		only := wire.Load{}
		SetLastSlot(&only, LastSlotOf(&m.Load))
		guardian.SetTrail(&only, &guardian.Trail{trail[0]})
		return m.Exchange != 0 && trail[0].IsZero() == (m.Nonce == 0) && m.Token == wire.Ref{Slot: m.Token.Slot} && m.Load == only
	case KindIntent, KindConsent, KindObjection:
		return m.Exchange != 0 && m.Nonce == 0 && m.Token.IsWhole()
	case KindSeen:
		return m.Exchange != 0 && m.Nonce != 0 && m.Token.IsWhole()
	}
	return guardian.WellFormed(m)
}
