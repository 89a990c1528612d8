package timing

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Throttle allows one warning in each period. It is safe for concurrent use.
type Throttle struct {
	Every time.Duration

	mu     sync.Mutex
	last   time.Time
	silent HeldBack
}

// HeldBack is the number of suppressed warnings before one that is logged.
type HeldBack uint64

// MarshalZerologObject adds the number to the warning, unless it is 0.
func (h HeldBack) MarshalZerologObject(line *zerolog.Event) {
	if h > 0 {
		line.Uint64("held_back", uint64(h))
	}
}

// Allow reports whether to warn now, and how many warnings were suppressed since the last one.
func (t *Throttle) Allow(now time.Time) (ok bool, more HeldBack) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.last.IsZero() && now.Sub(t.last) < t.Every {
		t.silent++
		return false, 0
	}
	more = t.silent
	t.last, t.silent = now, 0
	return true, more
}
