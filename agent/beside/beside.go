// Package beside has helpers for work that goes on beside a loop.
package beside

import (
	"context"
	"time"
)

// Signal leaves one signal in a channel of capacity one, however often it is called before the signal is received. It
// does not block.
func Signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// Sleep sleeps for d. It returns false if ctx was done first.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// stopWithin bounds how long a stop waits for a write in progress.
const stopWithin = time.Second

// Start starts work that uses the disk beside the loop. stop ends it, and waits for a write in progress, but not for a
// disk that hangs.
func Start(work func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(stopWithin):
		}
	}
}
