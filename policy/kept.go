package policy

import (
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Kept is a grant that outlives its host: the operation reboots it, and the grant is given back only when the host is
// here again. A member keeps a record of its own grant, and one of a grant that others rely on it for. It is part of
// [State], so it is durable before the operation starts.
//
// A member that starts with a Kept of its own goes on as if its operation still ran. The shell sends Finished when it
// knows how that has ended; until then the member renews its grant. If the others have given the grant up meanwhile,
// the machine sends Stop, as if that had happened during the run.
type Kept struct {
	// Holder is the member whose operation it is; zero if there is no such grant.
	Holder wire.MemberID
	// Token is the token of the grant, with its fencing number, and Load what a soft gate's token carries.
	Token wire.Ref
	Load  wire.Load
	// For is how long the grant outlives the last word of its holder.
	For time.Duration
	// Demanded is true if the operation is a caller's, in a gate with an operation of its own.
	Demanded bool
}

// Keeper is a machine that finds out, during a run under such a grant, whether those who keep the grant still do:
// before somebody relies on it.
type Keeper interface {
	// AskKeepers lets it ask them once more, at its next wake-ups. It reports false if nothing runs under such a grant.
	AskKeepers() bool
	// KeepersAnswered reports whether enough of them have answered since.
	KeepersAnswered() bool
}

// NoteStayedAway: the grant under Token, which this member has kept for Peer, has run out: its holder has neither given
// it back nor been heard since. It comes before any effect that lets another member run. It may also come for a holder
// that has given the grant back, if this member was cut off then.
const NoteStayedAway Note = 240

// KeptNotes returns the notes about kept grants, for all protocols that keep some.
func KeptNotes() Notes {
	return Notes{{
		Note: NoteStayedAway, Name: "stayed_away", Level: Warn,
		Text: "a host has stayed away for longer than its grant was kept; its grant is over",
	}}
}

// Is reports whether there is such a grant.
func (k *Kept) Is() bool { return !k.Holder.IsZero() }
