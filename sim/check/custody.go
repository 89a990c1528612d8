package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// CustodyChecker checks that no token comes from nowhere and none vanishes without a reason. A member says how each token came, and
// why it is gone. It receives a token only by a message about that token, and in a handoff only by the Commit. Its status agrees.
type CustodyChecker struct{ held map[int][]wire.TokenID }

// NewCustodyChecker returns a checker of one run.
func NewCustodyChecker() *CustodyChecker { return &CustodyChecker{held: map[int][]wire.TokenID{}} }

// Watch implements [sim.Watcher].
func (k *CustodyChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if hands := k.held[o.Member]; len(hands) > 0 && o.Kind == sim.Departed {
		return fmt.Errorf("custody: %s leaves with %v", sim.MemberName(o.Member), hands[0])
	}
	if o.Kind == sim.Crashed {
		delete(k.held, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	for i := range o.Effects {
		if err := k.effect(c, o, &o.Effects[i]); err != nil {
			return err
		}
	}
	if !o.Completes() {
		return nil
	}
	return k.holds(o.Member, c.Status(o.Member))
}

func (k *CustodyChecker) effect(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	hands := k.held[o.Member]
	switch e.Kind {
	case policy.Took:
		m := &o.Event.Msg
		committed := o.Event.Kind == policy.Received && c.Family().Kinds.Part(m.Kind) == policy.Passes && SameToken(m.Token.ID, e.Token.ID)
		if e.Cause == policy.CauseReceived && !committed {
			return fmt.Errorf("custody: %v appears at %s", e.Token.ID, sim.MemberName(o.Member))
		}
		k.held[o.Member] = append(hands, e.Token.ID)
	case policy.Gave:
		last := len(hands) - 1
		if last < 0 || hands[last] != e.Token.ID {
			return fmt.Errorf("custody: %s gives up %v, which it does not hold", sim.MemberName(o.Member), e.Token.ID)
		}
		k.held[o.Member] = hands[:last]
	case policy.Save, policy.Send, policy.Run, policy.Extend, policy.Stop, policy.Entrust, policy.Announce, policy.Tell, policy.Gone, policy.Proclaim:
	}
	return nil
}

// holds checks that a member's status agrees with its effects.
func (k *CustodyChecker) holds(member int, s *policy.Status) error {
	switch hands := k.held[member]; {
	case len(hands) > 1:
		return fmt.Errorf("custody: %s holds %v and %v", sim.MemberName(member), hands[0], hands[1])
	case len(hands) == 0 && s.Holding:
		return fmt.Errorf("custody: %v appears at %s", s.Token.ID, sim.MemberName(member))
	case len(hands) == 1 && (!s.Holding || s.Token.ID != hands[0]):
		return fmt.Errorf("custody: %v vanishes from %s", hands[0], sim.MemberName(member))
	}
	return nil
}
