package ring

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
)

// CostChecker holds the bounds of a ring on paper links in which nobody crashes, with messages counted on delivery: so many for each request
// from the beginning, and so many from a request until the token comes (the service traffic). They are those that small rings have from
// any state, by exhaustive search: Martin 2n − 2 and 3n − 2, Q n and 2n² − 3n + 1, D 5n/2 − 2 and 3n − 1.
type CostChecker struct {
	request             ring.Request
	n                   int
	delivered, requests int
	// asked is how much had been delivered when a member began to wait; -1 if it does not.
	asked []int
	// running is the member whose run goes on, again says that it is wanted again: "a processor can ask again the resource only after that
	// the previous request has been satisfied".
	running int
	again   bool
}

// NewCostChecker returns a checker of one run.
func NewCostChecker(request ring.Request, members int) *CostChecker {
	k := &CostChecker{request: request, n: members, asked: make([]int, members), running: -1}
	for i := range k.asked {
		k.asked[i] = -1
	}
	return k
}

// bounds are twice the messages for each request, and the service traffic.
func (k *CostChecker) bounds() (twice, service int) {
	switch n := k.n; k.request {
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

// Watch checks one step.
func (k *CostChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped || k.request == ring.Always || k.n < 3 {
		return nil
	}
	switch o.Event.Kind {
	case policy.Wanted:
		if o.Member == k.running {
			k.again = true
		} else {
			k.ask(o.Member)
		}
	case policy.Unwanted:
		k.asked[o.Member] = -1
	case policy.Finished:
		if k.running = -1; k.again {
			k.again = false
			k.ask(o.Member)
		}
	case policy.Received:
		if delivers(o) {
			k.delivered++
		}
	case policy.Started, policy.PeersChanged, policy.Saved, policy.Suspended, policy.Ordered, policy.Leave, policy.Woke:
	}
	for i := range o.Effects {
		if o.Effects[i].Kind == policy.Run {
			k.running, k.again = o.Member, false
		}
	}
	twice, service := k.bounds()
	if 2*k.delivered > twice*k.requests {
		return fmt.Errorf("cost: %v delivers %d messages for %d requests of %d members", k.request, k.delivered, k.requests, k.n)
	}
	if asked := k.asked[o.Member]; asked >= 0 && o.Completes() && c.Status(o.Member).Holding {
		k.asked[o.Member] = -1
		if k.delivered-asked > service {
			return fmt.Errorf("cost: %v delivers %d messages until a request of %s is served", k.request, k.delivered-asked, sim.MemberName(o.Member))
		}
	}
	return nil
}

func (k *CostChecker) ask(who int) {
	if k.asked[who] < 0 {
		k.asked[who] = k.delivered
		k.requests++
	}
}

// delivers reports whether a step takes one of the paper's messages: a request, or the token, and not a copy of it.
func delivers(o *sim.Occurrence) bool {
	site, _ := kcopies.Fields(&o.Event.Msg.Load)
	return o.Event.Msg.Kind == ring.KindRequest || o.Event.Msg.Kind == kcopies.KindToken && int(site) == o.Member
}
