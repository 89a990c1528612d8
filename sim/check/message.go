package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// NewMessageChecker checks two rules of the contract. A message that a machine does not expect changes nothing: Expects
// allows the shell to drop such a message before it checks the signature. And a message has at most one answer; but a
// message may bring a directive, and what the member does because it may run again is no answer; nor is what it says of
// another slot's token, which it may use now.
func NewMessageChecker() sim.Watcher {
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		if !o.On(policy.Received) {
			return nil
		}
		answers := 0
		kind := func() string { return c.Descriptor().Kinds.Of(o.Event.Msg.Kind).Name }
		for i := range o.Effects {
			e := &o.Effects[i]
			// A member may leave at any event, once its time to leave has come.
			if e.Kind != policy.Tell && e.Kind != policy.Gone && !o.Expected {
				return fmt.Errorf("message: %s expected no %s, and now it does %v", o.Who(), kind(), e.Kind)
			}
			m := &o.Event.Msg
			if e.Kind == policy.Send && e.Msg.To == m.From && e.Msg.Exchange == m.Exchange &&
				e.Msg.Token.Slot == m.Token.Slot {
				answers++
			}
		}
		if answers > 1 && !o.Does(policy.Proclaim) {
			return fmt.Errorf("message: %s answers one %s with %d messages", o.Who(), kind(), answers)
		}
		return nil
	})
}
