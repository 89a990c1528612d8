package measure

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// losses measures the recovery from each loss of the last token of a slot separately: the next loss ends the recovery
// from the one before. A recovery that is not complete by then, or by the end, does not count.
type losses struct {
	// good is how long there must be exactly one token for it to be one for good: Δmin.
	good  time.Duration
	slots []loss
	// held is how long it took until a member held a token again. single is how long it took until the moment from
	// which there was exactly one, for good or until the next loss.
	held, single []time.Duration
}

// loss is the latest loss of a slot's last token.
type loss struct {
	// none is true while there is no token; there has been none since noneSince. open is true if the last token was
	// lost, at the time at, and there has not been one for good since.
	none, open    bool
	noneSince, at policy.Time
	// tokens is how many tokens there are, and since when.
	tokens int
	since  policy.Time
}

func (l *losses) live(now policy.Time, slot uint8) {
	s := &l.slots[slot]
	l.settle(now, s)
	if s.none {
		s.none = false
		l.held = append(l.held, now.Sub(s.noneSince))
	}
	s.tokens, s.since = s.tokens+1, now
}

// die records that there is one token fewer, since a time that may be in the past. If the last token was removed, the
// recovery from an earlier loss goes on; if it was lost, this is another loss.
func (l *losses) die(now, since policy.Time, slot uint8, removed bool) {
	s := &l.slots[slot]
	l.settle(now, s)
	s.tokens--
	if s.tokens > 0 {
		s.since = now
		return
	}
	if s.open && !removed {
		l.over(s)
	}
	if !s.open {
		s.open, s.at = true, since
	}
	s.none, s.noneSince = true, since
}

// settle ends the recovery from a loss if there has been one token for good since the number of tokens last changed.
func (l *losses) settle(now policy.Time, s *loss) {
	if s.open && s.tokens == 1 && now.Sub(s.since) >= l.good {
		l.over(s)
	}
}

func (l *losses) over(s *loss) {
	s.open = false
	l.single = append(l.single, s.since.Sub(s.at))
}

// begin forgets everything before now, including a recovery in progress: its loss was not measured.
func (l *losses) begin() {
	for i := range l.slots {
		l.slots[i].none, l.slots[i].open = false, false
	}
	l.held, l.single = l.held[:0], l.single[:0]
}
