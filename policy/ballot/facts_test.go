package ballot_test

import (
	"slices"
	"strings"

	"github.com/wanderd/wanderd/policy"
)

// tells checks what a member tells operators: no claim and no soak that is over, and in a list of the members that it
// sees, itself.
func (c *checker) tells(i int) {
	w := c.w
	now := w.instant(i).Time
	c.facts = w.hosts[i].g.Facts(now, c.facts[:0])
	for _, f := range c.facts {
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
