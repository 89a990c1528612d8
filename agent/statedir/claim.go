package statedir

import (
	"errors"
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Claim is an interval that a member has claimed for its run, in a record: see [policy.Claim].
type Claim struct {
	By   wire.MemberID `json:"by"`
	Life uint64        `json:"life"`
	Seq  wire.Seq      `json:"seq"`
	// Until is when the interval is over, by the wall clock: it has to end also on a host that was down meanwhile.
	Until time.Time     `json:"until"`
	For   time.Duration `json:"for_ns"`
}

// ClaimOf returns the record of a claim; it is zero if there is none. now is this moment by both clocks.
func ClaimOf(c *policy.Claim, now policy.Instant) Claim {
	if !c.Is() {
		return Claim{}
	}
	until := time.Unix(0, now.Wall).Add(c.Until.Sub(now.Time)).UTC()
	return Claim{By: c.By, Life: c.Life, Seq: c.Seq, Until: until, For: c.For}
}

// Claim returns the recorded claim. Its end is never further away than the interval is long, whatever the wall clock
// shows now.
func (c *Claim) Claim(now policy.Instant) policy.Claim {
	if *c == (Claim{}) {
		return policy.Claim{}
	}
	left := min(c.Until.Sub(time.Unix(0, now.Wall)), c.For)
	return policy.Claim{By: c.By, Life: c.Life, Seq: c.Seq, Until: now.Time.Add(left), For: c.For}
}

// check returns an error for values that no agent writes.
func (c *Claim) check() error {
	switch {
	case *c == Claim{}:
		return nil
	case c.By.IsZero() || c.Seq == 0 || c.Seq > wire.MaxSeq:
		return errors.New("it has a claim without a member or a number")
	case c.For <= 0 || c.For > policy.LongestClaim:
		return fmt.Errorf("it has a claim for %v", c.For)
	}
	return nil
}
