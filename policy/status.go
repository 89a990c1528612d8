package policy

import "github.com/wanderd/wanderd/wire"

// Status is one member's view of its gate, as far as all protocols have one.
type Status struct {
	// Phase is what the machine does, in one word.
	Phase string
	// Why completes "not running because …"; "running" while the operation does. Bar is the same for programs, as far
	// as they need it.
	Why string
	Bar Bar
	// Holding says that Token is held here; otherwise Token is the last one that was.
	Holding bool
	Token   wire.Ref
	// Holder is who holds the token, as far as this member knows: itself, the holder that it has heard of, or the
	// member to which it passed the token; zero if it knows of nobody.
	Holder wire.MemberID
	// Since is when a token was last here, or known to be elsewhere, or this member started; meaningful unless Holding.
	Since Time
	// HasRun says that LastRun means something.
	HasRun  bool
	LastRun Time
	// NextRun is the earliest time at which this member runs if it may: Never, if it runs on demand, and there is none.
	NextRun Time
}

// Bar is what keeps a member from running, apart from times and from where the token is.
type Bar uint8

const (
	// BarPaused: an order has paused the gate.
	BarPaused Bar = iota + 1
	// BarNoMajority: no majority of the roster is there.
	BarNoMajority
)
