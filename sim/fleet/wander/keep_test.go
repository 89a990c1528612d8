package wander

import (
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/sim"
)

// drawKept returns the scenario of a seed, with grants that outlive their hosts.
func drawKept(seed uint64) Scenario {
	s := Draw(seed)
	drawing{sim.NewDice(seed, 4001)}.reboots(&s)
	return s
}

// Nobody runs while another member is away under its grant, and every grant ends.
func TestNoSeedBreaksAKeptGrant(t *testing.T) {
	for _, seed := range mutant.Seeds(deep.Of[uint64](20, 30, 100)) {
		s := drawKept(seed)
		if o := s.Explore(); o.Err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, o.Err, mutant.Reduced(t, s.Smaller))
		}
	}
}
