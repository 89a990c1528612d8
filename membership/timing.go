package membership

import (
	"context"
	"math/rand/v2"
	"time"
)

// jitter returns a random duration from d/2 to 3d/2.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// sleep returns false if ctx was done first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// signal wakes the listener once, however often it is called before somebody listens. The capacity of the channel is
// one; signal does not block.
func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}
