package membership

import (
	"sync"
	"time"
)

// throttle lets one warning of a kind through in a while. It is safe for concurrent use.
type throttle struct {
	every time.Duration

	mu     sync.Mutex
	last   time.Time
	silent uint64
}

// allow reports whether to warn now, and how many warnings were held back since the last one.
func (t *throttle) allow(now time.Time) (ok bool, heldBack uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.last.IsZero() && now.Sub(t.last) < t.every {
		t.silent++
		return false, 0
	}
	heldBack = t.silent
	t.last, t.silent = now, 0
	return true, heldBack
}
