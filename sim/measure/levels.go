package measure

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// levels measures for how long a number had each of its values: the operations at once, or the live tokens. It counts
// in whole nanoseconds, so that the parts add up to the whole.
type levels struct {
	level int
	since policy.Time
	spent []time.Duration
}

func (l *levels) set(now policy.Time, level int) {
	l.spend(now)
	l.level = level
}

// spend books the time since the last change.
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

// until returns for each value how long it lasted, until now. The slice is good until the next call of anything.
func (l *levels) until(now policy.Time) []time.Duration {
	l.spend(now)
	return l.spent
}
