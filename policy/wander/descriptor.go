package wander

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// Descriptor describes the soft gate to shells and simulator.
func Descriptor() policy.Descriptor {
	return policy.Descriptor{
		ID: 1, Name: "wander", Version: 1, Kinds: Kinds(),
		Notes: slices.Concat(handoff.Notes(), guardian.Notes(), Notes(), soft.Notes(), pace.Notes(),
			policy.KeptNotes()),
		WellFormed: wellFormed,
		Doubt: func(wall int64, _ bool, s *policy.State) (why string) {
			return soft.Doubt(wall, s, func(l *wire.Load, slot uint8) bool {
				return guardian.WellFormedTrail(l) && wellFormedLoad(l, slot)
			})
		},
	}
}

// wellFormed reports whether m is a message of a soft gate, and has the fields of its kind. A holder has no lease to
// lend.
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
		SetMembers(&only, MembersOf(&m.Load))
		SetQuiet(&only, QuietOf(&m.Load))
		return m.Exchange != 0 && trail[0].IsZero() == (m.Nonce == 0) && m.Token == wire.Ref{Slot: m.Token.Slot} &&
			m.Load == only
	case KindIntent, KindConsent, KindObjection:
		return m.Exchange != 0 && m.Nonce == 0 && m.Token.IsWhole()
	case KindSeen:
		return m.Exchange != 0 && m.Nonce != 0 && m.Token.IsWhole()
	}
	return guardian.WellFormed(m)
}

// The messages by which a member asks for a token before it makes one, and asks whether another member runs before it
// runs itself.
const (
	// KindInquiry asks whether the addressee has seen a token. No token has come to its sender for regenerate-after, so
	// the sender would make a new one. It names no token, only a slot.
	KindInquiry wire.Kind = iota + 9
	// KindSeen answers an Inquiry: its sender held this token or heard of it some time ago. The nonce is that time in
	// nanoseconds, at least 1. The trail lists members that may have heard of the token since.
	KindSeen
	// KindIntent: its sender holds the token and is about to run. It asks whether anything stands in the way.
	KindIntent wire.Kind = iota + 10
	// KindConsent answers an Intent: its sender does not run.
	KindConsent
	// KindObjection answers an Intent: its sender runs, or is about to run and goes first.
	KindObjection
	// KindUnseen answers an Inquiry: its sender has met no token lately. The trail may name one member that asks
	// already and goes first; the nonce is how long ago it asked, in nanoseconds, at least 1.
	KindUnseen
)

// Kinds returns the kinds of message of a soft gate.
func Kinds() policy.Kinds {
	own := policy.Kinds{
		{Kind: KindInquiry, Name: "Inquiry"},
		{Kind: KindSeen, Name: "Seen"},
		{Kind: KindIntent, Name: "Intent"},
		{Kind: KindConsent, Name: "Consent"},
		{Kind: KindObjection, Name: "Objection"},
		{Kind: KindUnseen, Name: "Unseen"},
	}
	return slices.Concat(handoff.Kinds(), guardian.Kinds(), own)
}
