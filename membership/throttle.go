package membership

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// throttle allows one warning in each period. It is safe for concurrent use.
type throttle struct {
	every time.Duration

	mu     sync.Mutex
	last   time.Time
	silent heldBack
}

// heldBack is the number of suppressed warnings before one that is logged.
type heldBack uint64

// MarshalZerologObject adds the number to the warning, unless it is 0.
func (h heldBack) MarshalZerologObject(line *zerolog.Event) {
	if h > 0 {
		line.Uint64("held_back", uint64(h))
	}
}

// allow reports whether to warn now, and how many warnings were suppressed since the last one.
func (t *throttle) allow(now time.Time) (ok bool, more heldBack) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.last.IsZero() && now.Sub(t.last) < t.every {
		t.silent++
		return false, 0
	}
	more = t.silent
	t.last, t.silent = now, 0
	return true, more
}
