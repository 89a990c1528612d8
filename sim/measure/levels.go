package measure

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// levels measures for how long a number had each of its values; the number is that of operations at once, or of live
// tokens. It counts in whole nanoseconds, so that the parts add up to the whole.
type levels struct {
	level int
	since policy.Time
	spent []time.Duration
}

func (l *levels) set(now policy.Time, level int) {
	l.spend(now)
	l.level = level
}

// spend records the time since the last change.
func (l *levels) spend(now policy.Time) {
	for len(l.spent) <= l.level {
		l.spent = append(l.spent, 0)
	}
	l.spent[l.level] += now.Sub(l.since)
	l.since = now
}

// begin forgets all times before now.
func (l *levels) begin(now policy.Time) {
	l.spent = l.spent[:0]
	l.since = now
}

// until returns, for each value, for how long it lasted, until now. The slice is valid until the next call of any
// method.
func (l *levels) until(now policy.Time) []time.Duration {
	l.spend(now)
	return l.spent
}
