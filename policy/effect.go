package policy

import (
	"slices"

	"github.com/wanderd/wanderd/wire"
)

// EffectKind says what the shell must do.
type EffectKind uint8

const (
	// Save makes State durable, which may take long: the effects after it do not wait. One save at a time is under way;
	// a newer State takes the place of one that is not begun yet. When the newest is durable, or cannot be saved, Saved
	// follows.
	Save EffectKind = iota + 1
	// Send sends Msg to Msg.To, once.
	Send
	// Run is a grant: start the protected operation under Token, unless StartBy is over. Exactly one Finished follows,
	// also when it is not started.
	Run
	// Extend moves the end of what Run has granted to Until.
	Extend
	// Stop ends the protected operation early; its Finished still follows.
	Stop
	// PreSign gives Msg to the guard of the operation that runs, a process of its own. If this process dies before the
	// operation has ended, the guard ends it, and sends Msg, a few times, as soon as nothing of it is left. A new Run
	// begins with nothing pre-signed; a Msg without a kind takes back all that was.
	PreSign
	// Took says that this member holds Token from now on; Cause says how it came, Peer from whom. A member holds one
	// token of a slot. If it takes a second one, it does not keep that: Gave follows in the same step.
	Took
	// Gave says that this member does not hold Token any more, of two the one that it took last; Cause says why, Peer
	// who is to have it, or knows better. It comes before whatever lets another member hold that token.
	Gave
	// Announce tells the other members, some time soon, that this one has met a token of the gate.
	Announce
	// Proclaim tells the other members, some time soon, of the newest order that this one knows: Msg.Order. It comes
	// when that has changed.
	Proclaim
	// Tell is a note for people, in logs, metrics and traces: what happened (Note) and with whom (Peer, Token). Nothing
	// else depends on it.
	Tell
	// Gone says that this member has left: nothing keeps it any longer. It comes once, and last.
	Gone
)

// String returns the kind's name.
func (k EffectKind) String() string {
	return Name([]string{
		Save: "Save", Send: "Send", Run: "Run", Extend: "Extend", Stop: "Stop", PreSign: "Entrust", Took: "Took",
		Gave:     "Gave",
		Announce: "Announce", Proclaim: "Proclaim", Tell: "Tell", Gone: "Gone",
	}, k)
}

// Effect is one thing to do; Kind says which fields mean something.
type Effect struct {
	Kind EffectKind
	// Note comes with Tell, Cause with Took and Gave; Peer and Token with all three, but Peer may be zero, and in Tell
	// Token, too.
	Note  Note
	Cause Cause
	// Demanded comes with Run: it serves a demand in a gate whose member also has an operation of its own, which is not
	// due. Without it, such a Run is that operation's.
	Demanded bool
	Peer     wire.MemberID
	// Token comes with Run too: the token as it is held, with the grant's fencing number.
	Token wire.Ref
	// StartBy comes with Run: what has not started by then is not started any more.
	StartBy Time
	// Until comes with Run and Extend: nothing is left of the operation by then, whatever has become of this process.
	// The guard of the operation sees to that by itself. Zero sets no end.
	Until Time
	// Msg comes with Send and PreSign; of Proclaim, only its Order.
	Msg wire.Message
	// State comes with Save.
	State State
}

// An effect is large: it is written once, where it stays, and never built elsewhere and copied. Of the effect that
// stood there before, only what its kind had is cleared.

// AppendSend appends the effect that sends m.
func AppendSend(out []Effect, m *wire.Message) []Effect {
	out, e := extend(out, Send)
	e.Msg = *m
	return out
}

// AppendMessage appends the effect that sends a message, and returns that to be filled in.
func AppendMessage(out []Effect) ([]Effect, *wire.Message) {
	out, e := extend(out, Send)
	return out, &e.Msg
}

// AppendPreSign appends the effect that gives m, signed, to the guard of the operation that runs.
func AppendPreSign(out []Effect, m *wire.Message) []Effect {
	out, e := extend(out, PreSign)
	e.Msg = *m
	return out
}

// AppendTakeBack appends the effect that takes back what was given to the guard of a run under a token of that slot.
func AppendTakeBack(out []Effect, slot uint8) []Effect {
	out, e := extend(out, PreSign)
	e.Msg.Token.Slot = slot
	return out
}

// AppendTell appends the effect that tells a note; peer may be zero, and token nil.
func AppendTell(out []Effect, note Note, peer wire.MemberID, token *wire.Ref) []Effect {
	out, e := extend(out, Tell)
	e.Note, e.Peer = note, peer
	if token != nil {
		e.Token = *token
	}
	return out
}

// AppendTook appends the effect that says how a token came to this member.
func AppendTook(out []Effect, how Cause, from wire.MemberID, token *wire.Ref) []Effect {
	out, e := extend(out, Took)
	e.Cause, e.Peer, e.Token = how, from, *token
	return out
}

// AppendGave appends the effect that says why a token is not this member's any more.
func AppendGave(out []Effect, why Cause, peer wire.MemberID, token *wire.Ref) []Effect {
	out, e := extend(out, Gave)
	e.Cause, e.Peer, e.Token = why, peer, *token
	return out
}

// AppendRun appends the grant under a token.
func AppendRun(out []Effect, token *wire.Ref, startBy Time) []Effect {
	out, e := extend(out, Run)
	e.Token, e.StartBy = *token, startBy
	return out
}

// AppendExtend appends the effect that moves the end of the grant under a token.
func AppendExtend(out []Effect, token *wire.Ref, until Time) []Effect {
	out, e := extend(out, Extend)
	e.Token, e.Until = *token, until
	return out
}

// AppendSave appends the effect that saves a state.
func AppendSave(out []Effect, state State) []Effect {
	out, e := extend(out, Save)
	e.State = state
	return out
}

// AppendProclaim appends the effect that tells the other members of an order.
func AppendProclaim(out []Effect, order wire.Order) []Effect {
	out, e := extend(out, Proclaim)
	e.Msg.Order = order
	return out
}

// extend appends an effect of a kind, and returns it to be filled in.
func extend(out []Effect, kind EffectKind) ([]Effect, *Effect) {
	out = slices.Grow(out, 1)[:len(out)+1]
	e := &out[len(out)-1]
	switch e.Kind {
	case Send, PreSign, Proclaim:
		e.Msg = wire.Message{}
	case Save:
		e.State = State{}
	case Run, Extend, Stop, Took, Gave, Announce, Tell, Gone:
	}
	e.Kind, e.Note, e.Cause, e.Demanded = kind, 0, 0, false
	e.Peer, e.Token, e.StartBy, e.Until = wire.MemberID{}, wire.Ref{}, 0, 0
	return out, e
}
