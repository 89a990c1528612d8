package ballot

import (
	"fmt"
	"time"
)

// LeastLease is the shortest lease with which a command can run: "the lease must exceed two renewals + kill-after +
// kill margin + a round trip". A renewal begins after each third of the time that the lease leaves before TERM, and
// takes a round trip.
func LeastLease(killAfter, margin, roundTrip time.Duration, rho float64) time.Duration {
	held := killAfter + margin + (renewals+1)*roundTrip
	return inMemo(time.Duration(float64(held) * (1 + rho) / (1 - rho)))
}

// Check returns an error if a gate with this configuration could never run, or would not be safe. backups is the number
// of members that keep a copy.
func (c *Config) Check(backups int) error {
	n := c.Roster.Len()
	least := LeastLease(c.KillAfter, c.Margin, c.Patience, c.Rho)
	switch {
	case c.Self < 0 || c.Self >= n:
		return fmt.Errorf("this member is not in the roster (%s)", c.Roster)
	case c.Rho < 0 || c.Rho >= 1:
		return fmt.Errorf("clocks cannot differ by %v", c.Rho)
	case c.Lease < least:
		return fmt.Errorf(
			"lease = %v is too short for kill_after = %v: at least %v, of which two renewals have %v each", c.Lease,
			c.KillAfter, least, c.Patience)
	case c.MostLease < c.Lease || c.MostLease > longestLease:
		return fmt.Errorf("the longest lease, %v, must be from %v to %v", c.MostLease, c.Lease, longestLease)
	case backups < 0 || backups >= n-1 && backups > 0:
		return fmt.Errorf("backups = %d: a roster of %d (%s) has at most %d", backups, n, c.Roster, max(n-2, 0))
	}
	return nil
}
