package sim

import (
	"context"

	"github.com/wanderd/wanderd/policy"
)

// patience is how many events happen between two looks at the context: some milliseconds' worth.
const patience = 1 << 14

// RunFor is Run with a context. It returns the time that was reached: less than until if ctx is cancelled or a watcher has an error, which
// it returns too.
//
// progress, if not nil, is called now and then with the time that is reached. It should return soon.
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
	if c.failure == nil {
		c.now = max(c.now, until) // No event is left before it.
	}
	return c.now, c.failure
}
