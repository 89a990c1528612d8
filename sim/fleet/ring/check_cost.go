package ring

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
)

// cost is the state of [NewCostChecker].
type cost struct {
	delivered, requests int
	// asked is how many messages had been delivered when a member began to wait. A member that does not wait has no
	// entry.
	asked map[int]int
	// running is the member whose run goes on. again is true if it wants the next run already: "a processor can ask
	// again the resource only after that the previous request has been satisfied".
	running int
	again   bool
}

// NewCostChecker checks two bounds of a ring on paper links in which no member crashes: the messages for each request,
// on average since the beginning, and the messages from a request until the token comes (the service traffic). Messages
// count when they are delivered. An exhaustive search of small rings, from any state, found the bounds: Martin 2n − 2
// and 3n − 2, Q n and 2n² − 3n + 1, D 5n/2 − 2 and 3n − 1.
func NewCostChecker(request ring.Request, n int) sim.Watcher {
	k := &cost{asked: map[int]int{}, running: -1}
	twice, service := bounds(request, n)
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		if o.Kind != sim.Stepped || request == ring.Always || n < 3 {
			return nil
		}
		k.event(o)
		if o.Does(policy.Run) {
			k.running, k.again = o.Member, false
		}
		if 2*k.delivered > twice*k.requests {
			return fmt.Errorf("cost: %v delivers %d messages for %d requests of %d members", request, k.delivered,
				k.requests, n)
		}
		if before, asked := k.asked[o.Member]; asked && o.Completes() && c.Status(o.Member).Holding {
			delete(k.asked, o.Member)
			if k.delivered-before > service {
				return fmt.Errorf("cost: %v delivers %d messages until a request of %s is served", request,
					k.delivered-before, o.Who())
			}
		}
		return nil
	})
}

// bounds returns twice the number of messages for each request, and the service traffic.
func bounds(request ring.Request, n int) (twice, service int) {
	switch request {
	case ring.Martin:
		return 4*n - 4, 3*n - 2
	case ring.Q:
		return 2 * n, 2*n*n - 3*n + 1
	case ring.D:
		return 5*n - 4, 3*n - 1
	case ring.Always:
	}
	return 0, 0
}

func (k *cost) event(o *sim.Occurrence) {
	switch {
	case o.On(policy.Wanted) && o.Member == k.running:
		k.again = true
	case o.On(policy.Wanted):
		k.ask(o.Member)
	case o.On(policy.Unwanted):
		delete(k.asked, o.Member)
	case o.On(policy.Finished):
		if k.running = -1; k.again {
			k.again = false
			k.ask(o.Member)
		}
	case o.On(policy.Received) && delivers(o):
		k.delivered++
	}
}

func (k *cost) ask(who int) {
	if _, asked := k.asked[who]; !asked {
		k.asked[who] = k.delivered
		k.requests++
	}
}

// delivers reports whether a step receives one of the paper's messages: a request, or the token, but not a copy of the
// token.
func delivers(o *sim.Occurrence) bool {
	site, _ := kcopies.Fields(&o.Event.Msg.Load)
	return o.Event.Msg.Kind == ring.KindRequest || o.Event.Msg.Kind == kcopies.KindToken && int(site) == o.Member
}
