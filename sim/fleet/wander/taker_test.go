package wander

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// A member that has fewer tokens than the holder does not take those that it lacks. So a holder that finds no other
// member gives such a token up, and breaks no rule.
func TestAMemberWithoutATokensSlotDoesNotTakeIt(t *testing.T) {
	s := fleet(2)
	s.Backups, s.Slots, s.MixedSlots = 2, 2, true // a has two tokens, b has one
	yielded := 0
	count := sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		for e := range o.Did(policy.Gave) {
			if e.Cause == policy.CauseYielded {
				yielded++
			}
		}
		return nil
	})
	c := s.NewCluster(append(s.Checkers(), count)...)
	s.start(c)
	if err := c.Run(policy.Time(6 * time.Hour)); err != nil {
		t.Error(err)
	}
	if yielded == 0 {
		t.Error("no token is given up")
	}
}
