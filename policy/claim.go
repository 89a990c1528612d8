package policy

import (
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Claim is an interval that a member has claimed for its run, in a gate that runs once for the whole fleet: no other
// member runs before the interval is over, unless that run has failed. Members record the claims that they support. A
// claim is part of [State], so it is durable before the run starts.
type Claim struct {
	// By is the member that runs; zero if there is no claim. Life distinguishes its lives: one that starts again does
	// not know how the run has ended.
	By   wire.MemberID
	Life uint64
	// Seq is the number of the token under which the interval was claimed.
	Seq wire.Seq
	// Until is when the interval is over, and For how long it is.
	Until Time
	For   time.Duration
}

// Is reports whether there is a claim.
func (c *Claim) Is() bool { return !c.By.IsZero() }

// LongestClaim is the longest interval that can be claimed.
const LongestClaim = 366 * 24 * time.Hour
