package guardian

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// The messages between a token's holder and its guardians.
const (
	// KindHeartbeat: its sender holds the token, and its addressee is one of the guardians. It is also the holder's
	// answer to an Ask. The nonce counts the heartbeats of one holder, from 1.
	KindHeartbeat wire.Kind = iota + 4
	// KindAsk asks for the holder of a token. Its sender keeps a copy, or was away while it held the token.
	KindAsk
	// KindHeard answers an Ask: its sender is a guardian too, and heard the holder some time ago. The nonce is that
	// time in nanoseconds, at least 1.
	KindHeard
	// KindKnown answers an Ask: its sender neither holds the token nor keeps a copy, and sends the last state of it
	// that it knows. Without an Ask it releases a guardian.
	KindKnown
	// KindTombstone: the token, up to this number, was removed and must not be revived. It is also an answer to an Ask.
	KindTombstone
	// KindYield: its sender held the token, no longer holds it, and has not passed it on. Its addressee, one of the
	// guardians, need not wait for a silence. It has no answer.
	KindYield wire.Kind = 11
	// KindKeep: its sender holds the token, and its grant is to outlive its host; or no longer, if the nonce is odd.
	// Its addressee, one of the guardians, saves that.
	KindKeep wire.Kind = 16
	// KindKept answers a Keep: its sender has saved that, or has heard a later heartbeat.
	KindKept wire.Kind = 17
)

// Kinds returns the kinds of message between holder and guardians.
func Kinds() policy.Kinds {
	return policy.Kinds{
		{Kind: KindHeartbeat, Name: "Beat", Part: policy.Tells},
		{Kind: KindAsk, Name: "Ask", Part: policy.Asks},
		{Kind: KindHeard, Name: "Heard", Part: policy.Tells},
		{Kind: KindKnown, Name: "Known", Part: policy.Tells},
		{Kind: KindTombstone, Name: "Buried", Part: policy.Tells},
		{Kind: KindYield, Name: "Yield", Part: policy.Tells},
		{Kind: KindKeep, Name: "Keep", Part: policy.Asks},
		{Kind: KindKept, Name: "Kept", Part: policy.Tells},
	}
}
