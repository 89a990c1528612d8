package policy

import (
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Status is one member's view of its gate, as far as all protocols have one.
type Status struct {
	// Phase is what the machine does, in one word.
	Phase string
	// Why completes "not running because …"; "running" while the operation does.
	Why string
	// Holding says that Token is held here; otherwise Token is the last one that was.
	Holding bool
	Token   wire.Ref
	// Holder is who holds the token, as far as this member knows: itself, the holder that it has heard of, or the member to which it
	// passed the token; zero if it knows of nobody.
	Holder wire.MemberID
	// Since is when a token was last here, or known to be elsewhere, or this member started; meaningful unless Holding.
	Since Time
	// HasRun says that LastRun means something.
	HasRun  bool
	LastRun Time
	// NextRun is the earliest time at which this member runs if it may: Never, if it runs on demand, and there is none.
	NextRun Time
}

// Fact is one more line of a member's status: what one protocol has to tell and others have not. The fields that are not zero tell
// it.
type Fact struct {
	Name   string
	Slot   uint8
	At     Time
	For    time.Duration
	Count  int
	Member wire.MemberID
	Text   string
}
