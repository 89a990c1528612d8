package ballot_test

import (
	"slices"
	"strings"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/strict"
)

// tells checks what a member tells operators: no claim and no soak that is over, in a list of the members that it sees,
// itself, and of no clock that runs too fast or too slowly: all of a world run within ρ.
func (c *checker) tells(i int) {
	w := c.w
	now := w.instant(i).Time
	c.facts = w.hosts[i].g.Facts(now, c.facts[:0])
	c.saysWhy(i)
	for _, f := range c.facts {
		if f.Key == policy.KeyClockRate && w.forger == nil {
			w.fail("facts: %d tells %s, and all clocks run as they should", i, f.Text)
		}
		if until := f.Key == policy.KeyClaimed || f.Key == policy.KeySoakUntil; until && f.At <= now {
			w.fail("facts: at %v, %d tells %+v, which is over", now, i, f)
		}
		_, sees, listed := strings.Cut(f.Text, "sees ")
		sees, _, _ = strings.Cut(sees, ", misses ")
		if f.Key == policy.KeyMissing && listed && !slices.Contains(strings.Split(sees, ", "), w.roster.Name(i)) {
			w.fail("facts: %d does not see itself: %s", i, f.Text)
		}
	}
}

// saysWhy checks that a member outside of its windows says so, and one that is due and whose host is not ready, unless
// it has more to say.
func (c *checker) saysWhy(i int) {
	w, g := c.w, c.w.hosts[i].g
	at := w.instant(i)
	s := g.Status(at.Time)
	more := s.Bar != 0 || slices.Contains([]string{"running", "entered", "barred"}, s.Phase)
	switch {
	case w.p.kind != paced || g.Leaving() || more:
	case !w.p.windows.Open(at.Wall):
		if s.Why != pace.WhyClosed {
			w.fail("facts: no window is open, and %d does not run because %s", i, s.Why)
		}
	case w.p.readyFor > 0 && !w.isReady(i) && c.waits[i] == 0 && s.NextRun <= at.Time && s.Why != strict.WhySoak:
		if s.Why != "due, and the host has not said that it is ready" {
			w.fail("facts: %d is due, and not ready, and does not run because %s", i, s.Why)
		}
	}
}
