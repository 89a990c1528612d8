package policy

import (
	"slices"

	"github.com/wanderd/wanderd/wire"
)

// EffectKind is what the shell must do.
type EffectKind uint8

const (
	// Save makes State durable. That may take long, and the effects after it do not wait for it. One save at a time is
	// under way; a newer State replaces one whose save has not begun. Saved follows when the newest State is durable,
	// or cannot be saved.
	Save EffectKind = iota + 1
	// Send sends Msg to Msg.To, once.
	Send
	// Run is a grant: the shell starts the protected operation under Token, unless StartBy has passed. Exactly one
	// Finished follows, even if the operation is not started.
	Run
	// Extend moves the end of the grant that Run gave to Until.
	Extend
	// Stop ends the protected operation early; its Finished still follows.
	Stop
	// PreSign gives Msg to the guard of the present run, which is a process of its own. If this process dies before the
	// run has ended, the guard ends the run, and sends Msg a few times as soon as nothing of the run is left. A new Run
	// begins with nothing pre-signed; a Msg without a kind withdraws all messages that were pre-signed.
	PreSign
	// Took: this member holds Token from now on; Cause is how it came, Peer from whom. A member holds one token of a
	// slot. If it takes a second one, it does not keep both: Gave follows in the same step.
	Took
	// Gave: this member no longer holds Token; if it held two, that is the one that it took last. Cause is the reason.
	// Peer is the member that is to have the token, or that knows of a better one. Gave comes before any effect that
	// lets another member hold that token.
	Gave
	// Announce tells the other members soon that this one has met a token of the gate.
	Announce
	// Proclaim tells the other members soon of the newest directive that this one knows: Msg.Directive. It comes when
	// that directive has changed.
	Proclaim
	// Tell is a note for people, in logs, metrics and traces: what happened (Note) and with whom (Peer, Token). Nothing
	// else depends on it.
	Tell
	// Gone: this member has left, and nothing keeps it any longer. It comes once, as the last effect.
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

// Effect is one thing to do; Kind determines which fields are set.
type Effect struct {
	Kind EffectKind
	// Note comes with Tell, Cause with Took and Gave; Peer and Token come with all three. Peer may be zero, and so may
	// Token in a Tell.
	Note  Note
	Cause Cause
	// Demanded comes with Run. It is true if the gate has an operation of its own that is not due here, and the run
	// serves a demand. If it is false, a Run in such a gate is for that operation.
	Demanded bool
	Peer     wire.MemberID
	// Token comes with Run too: the token as it is held, with the grant's fencing number.
	Token wire.Ref
	// StartBy comes with Run: an operation that has not started by then must not start.
	StartBy Time
	// Until comes with Run and Extend: by then nothing is left of the operation, whatever has become of this process.
	// The operation's guard ensures that by itself. Zero sets no end.
	Until Time
	// Msg comes with Send, PreSign and Proclaim; a Proclaim has only its Directive.
	Msg wire.Message
	// State comes with Save.
	State State
}

// An effect is large, so it is written once, in place, and never built elsewhere and copied. Of the effect that was in
// that place before, only the fields of its kind are cleared.

// AppendSend appends the effect that sends m.
func AppendSend(out []Effect, m *wire.Message) []Effect {
	out, e := extend(out, Send)
	e.Msg = *m
	return out
}

// AppendMessage appends the effect that sends a message, and returns the message to be filled in.
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

// AppendTakeBack appends the effect that withdraws what was given to the guard of a run under a token of that slot.
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

// AppendTook appends the effect that tells how a token came to this member.
func AppendTook(out []Effect, how Cause, from wire.MemberID, token *wire.Ref) []Effect {
	out, e := extend(out, Took)
	e.Cause, e.Peer, e.Token = how, from, *token
	return out
}

// AppendGave appends the effect that tells why this member no longer holds a token.
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

// AppendProclaim appends the effect that tells the other members of a directive.
func AppendProclaim(out []Effect, directive wire.Directive) []Effect {
	out, e := extend(out, Proclaim)
	e.Msg.Directive = directive
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
