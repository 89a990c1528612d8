// Package bubble runs tests in virtual time. It is the only importer of testing/synctest, so that no test is without
// what [Test] does under the race detector.
package bubble

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// one counts the bubbles for which the program has one processor.
var one struct { //nolint:gochecknoglobals // so has the program
	mu            sync.Mutex
	bubbles, most int
}

// Test is [synctest.Test]; under the race detector it is the same, but on one processor.
//
// If a timer in a bubble is due when a goroutine looks at its channel, that goroutine runs the timer. It does so, for
// the race detector, in a state that all goroutines of the bubble share, and nothing keeps two of them from using that
// state at once. On two processors this ends the program in the race detector ("CHECK failed") or with a fault in
// runtime.(*timer).maybeRunChan: golang/go#78156, in Go 1.26. The test of this package shows it. An agent cannot do
// without such timers, because memberlist has them.
//
// The race detector loses little: it finds a race by what orders two accesses, and need not see them at the same time.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	if raceDetector {
		one.mu.Lock()
		if one.bubbles++; one.bubbles == 1 {
			one.most = runtime.GOMAXPROCS(1)
		}
		one.mu.Unlock()
		defer func() {
			one.mu.Lock()
			if one.bubbles--; one.bubbles == 0 {
				runtime.GOMAXPROCS(one.most)
			}
			one.mu.Unlock()
		}()
	}
	synctest.Test(t, f)
}

// Wait is [synctest.Wait].
func Wait() { synctest.Wait() }
