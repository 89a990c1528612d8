package bubble

import (
	"sync"
	"testing"
	"time"
)

// due lets four goroutines of a bubble look at channels of timers that are due.
func due(*testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				var timers [500]*time.Timer
				for i := range timers {
					timers[i] = time.NewTimer(time.Millisecond)
				}
				time.Sleep(2 * time.Millisecond)
				for _, timer := range timers {
					<-timer.C
				}
			}
		})
	}
	all.Wait()
}

// Timers that are due do no harm, even under the race detector and in two bubbles at once. With synctest.Test instead,
// every other run of this test with -race crashes on two idle cores. When it no longer does, this package may go.
func TestTimersThatAreDueDoNoHarm(t *testing.T) {
	for range 2 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			Test(t, due)
		})
	}
}
