package tree

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
)

// A member that starts again forgets its numbers. However often it has asked before, the others hear its next request: its number comes from the wall
// clock, in units in which nobody asks once each.
func TestASiteThatStartsAgainIsHeard(t *testing.T) {
	roster := ids(3)
	asks := func(wall int64) uint64 {
		m := New(Config{
			Gate: 1, Self: roster[1], Roster: roster, Backups: 1, Links: UDP, Timers: timers(), Rejoins: true, Entropy: new(counter),
		})
		var last uint64
		at := policy.Instant{Wall: wall}
		for _, ev := range []policy.Event{{Kind: policy.Started}, {Kind: policy.Wanted}} {
			m.Step(at, &ev, nil)
		}
		for range 100 { // ten in a second
			at.Time, at.Wall = at.Time+100e6, at.Wall+100e6
			m.request(at.Time, 0, nil)
			last = m.number
		}
		return last
	}
	first := asks(1.7e18)
	if again := asks(1.7e18 + 10e9); again-100 <= first {
		t.Errorf("requests have numbers up to %d; after a restart they begin before %d", first, again-99)
	}
}
