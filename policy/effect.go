package policy

import (
	"fmt"

	"github.com/wanderd/wanderd/wire"
)

// EffectKind says what the shell must do.
type EffectKind uint8

const (
	// Save makes State durable before the next effect starts.
	Save EffectKind = iota + 1
	// Send sends Msg to Msg.To, once.
	Send
	// Run is a grant: start the protected operation under Token. Exactly one Finished follows, also when it cannot start.
	Run
	// Stop ends the protected operation early; its Finished still follows.
	Stop
	// Announce tells the other members, some time soon, that this one has met a token of the gate.
	Announce
	// Tell is a note for logs, metrics and traces: what happened (Note) and with whom (Peer, Token).
	Tell
)

// String returns the kind's name.
func (k EffectKind) String() string {
	switch k {
	case Save:
		return "Save"
	case Send:
		return "Send"
	case Run:
		return "Run"
	case Stop:
		return "Stop"
	case Announce:
		return "Announce"
	case Tell:
		return "Tell"
	}
	return fmt.Sprintf("EffectKind(%d)", uint8(k))
}

// Effect is one thing to do; Kind says which fields mean something.
type Effect struct {
	Kind EffectKind
	// Note, Peer and Token come with Tell; Peer and Token may be zero.
	Note Note
	Peer wire.MemberID
	// Token comes with Run too: the token as it is held, with the grant's fencing number.
	Token wire.Token
	// Msg comes with Send.
	Msg wire.Message
	// State comes with Save.
	State State
}

// Sending returns the effect that sends m.
func Sending(m *wire.Message) Effect { return Effect{Kind: Send, Msg: *m} }

// Telling returns the effect that tells a note; peer and token may be zero.
func Telling(note Note, peer wire.MemberID, token wire.Token) Effect {
	return Effect{Kind: Tell, Note: note, Peer: peer, Token: token}
}
