package membership

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// throttle lets one warning of a kind through in a while. It is safe for concurrent use.
type throttle struct {
	every time.Duration

	mu     sync.Mutex
	last   time.Time
	silent heldBack
}

// heldBack is how many warnings of a kind were not logged before one that is.
type heldBack uint64

// MarshalZerologObject adds them to that one, if there were any.
func (h heldBack) MarshalZerologObject(line *zerolog.Event) {
	if h > 0 {
		line.Uint64("held_back", uint64(h))
	}
}

// allow reports whether to warn now, and how many warnings were held back since the last one.
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
