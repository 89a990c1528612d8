package policy

import "github.com/wanderd/wanderd/wire"

// Status is one member's view of its gate, as far as it is common to all protocols.
type Status struct {
	// Phase is what the machine is doing, in one word.
	Phase string
	// Why completes "not running because …"; it is "running" while the operation runs. Bar is the same reason for
	// programs, as far as they need it.
	Why string
	Bar Bar
	// Holding is true while Token is held here; otherwise Token is the last one that was, or the one that Holder holds.
	Holding bool
	Token   wire.Ref
	// Holder is the member that holds the token, as far as this member knows: itself, the holder that it has heard of,
	// or the member to which it passed the token. It is zero if this member knows of none.
	Holder wire.MemberID
	// Since is when a token was last here or known to be elsewhere, or when this member started; it is not set while
	// Holding is true. It is Never if this member need not hear of the token now.
	Since Time
	// HasRun is true if LastRun is set.
	HasRun  bool
	LastRun Time
	// NextRun is the earliest time at which this member runs if it may. It is Never if it runs only on demand and there
	// is no demand.
	NextRun Time
}

// Bar is what keeps a member from running, other than times and the place of the token.
type Bar uint8

const (
	// BarPaused: an operator's directive has paused the gate.
	BarPaused Bar = iota + 1
	// BarNoMajority: no majority of the roster is present.
	BarNoMajority
)
