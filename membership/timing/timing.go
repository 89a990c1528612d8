// Package timing has helpers that wait or hold back: a signal, a pause that a context ends, and a throttle for
// warnings.
package timing

import (
	"context"
	"math/rand/v2"
	"time"
)

// Jitter returns a random duration from d/2 to 3d/2.
func Jitter(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// Sleep waits, and returns false if ctx was done first.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// Signal wakes the listener once, however often it is called before the listener receives. The capacity of the channel
// is one; Signal does not block.
func Signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}
