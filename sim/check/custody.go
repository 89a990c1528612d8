package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// NewCustodyChecker checks that no token comes from nowhere and none vanishes without a reason. A member tells how each
// token came, and why it is gone. It receives a token only by a message about that token, and in a handoff only by the
// Commit. Its status agrees.
func NewCustodyChecker() sim.Watcher {
	return sim.EachLife(func(hands *[]wire.TokenID, c *sim.Cluster, o *sim.Occurrence) error {
		if len(*hands) > 0 && o.Kind == sim.Departed {
			return fmt.Errorf("custody: %s leaves with %v", o.Who(), (*hands)[0])
		}
		for i := range o.Effects {
			switch e, last := &o.Effects[i], len(*hands)-1; {
			case e.Kind == policy.Took && e.Cause == policy.CauseReceived && !committed(c, o, e.Token.ID):
				return fmt.Errorf("custody: %v appears at %s", e.Token.ID, o.Who())
			case e.Kind == policy.Took:
				*hands = append(*hands, e.Token.ID)
			case e.Kind == policy.Gave && (last < 0 || (*hands)[last] != e.Token.ID):
				return fmt.Errorf("custody: %s gives up %v, which it does not hold", o.Who(), e.Token.ID)
			case e.Kind == policy.Gave:
				*hands = (*hands)[:last]
			}
		}
		if !o.Completes() {
			return nil
		}
		return holds(*hands, o.Who(), c.Status(o.Member))
	})
}

// committed reports whether a step takes a message that passes the token on.
func committed(c *sim.Cluster, o *sim.Occurrence, id wire.TokenID) bool {
	m := &o.Event.Msg
	return o.On(policy.Received) && c.Descriptor().Kinds.Part(m.Kind) == policy.Passes && SameToken(m.Token.ID, id)
}

// holds checks that a member's status agrees with its effects.
func holds(hands []wire.TokenID, who string, s *policy.Status) error {
	switch {
	case len(hands) > 1:
		return fmt.Errorf("custody: %s holds %v and %v", who, hands[0], hands[1])
	case len(hands) == 0 && s.Holding:
		return fmt.Errorf("custody: %v appears at %s", s.Token.ID, who)
	case len(hands) == 1 && (!s.Holding || s.Token.ID != hands[0]):
		return fmt.Errorf("custody: %v vanishes from %s", hands[0], who)
	}
	return nil
}
