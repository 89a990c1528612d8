package call

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// allCount reports which member counts another number of tokens than the share of the members, in a fleet that has been
// well for long.
func (s *Scenario) allCount(c *sim.Cluster) error {
	want := s.slots()
	if s.SlotsShare == 0 {
		return nil
	}
	for i := range s.Members {
		if m, ok := c.Machine(i).(policy.Slotted); ok && c.Up(i) && m.Slots() < want {
			return fmt.Errorf("share: %s counts %d tokens, and %d %% of %d members are %d", sim.MemberName(i),
				m.Slots(), s.SlotsShare, s.Members, want)
		}
	}
	return nil
}
