package sim

import (
	"context"

	"github.com/wanderd/wanderd/policy"
)

// patience is how many things happen in a world between two looks at whether it is still wanted: some milliseconds' worth.
const patience = 1 << 14

// RunFor is Run with a context: it returns the time that was reached, which is less than until if ctx is cancelled, whose error comes
// with it, or if a watcher has an error.
//
// Progress, if there is one, is told now and then how far the time has come; it should not take long over it.
func (c *Cluster) RunFor(ctx context.Context, until policy.Time, progress func(now policy.Time)) (policy.Time, error) {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return c.now, err
		}
		for left := patience; more && left > 0; left-- {
			more = c.next(until)
		}
		if progress != nil {
			progress(c.now)
		}
	}
	err := c.reach(until)
	return c.now, err
}
