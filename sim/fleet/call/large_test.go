package call

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/sim"
)

// In the largest fleet, too, a call costs three round trips.
func TestACallTakesThreeRoundTripsInALargeFleetToo(t *testing.T) {
	deep.AtNight(t, "fleets of 10,000 members")
	for _, load := range []float64{0.01, 0.1} {
		serve(t, 10_000, load)
	}
}

// Jain's index of the members' runs is 1 if all have run equally often, and 1/n if only one of n has.
func jain(runs []int) float64 {
	sum, squares := 0.0, 0.0
	for _, n := range runs {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	return sum * sum / (float64(len(runs)) * squares)
}

// When 10,000 members fall due in one moment, because a pause ends, their calls are spread (R16): no home hears more of
// them in a second than it can answer.
func TestManyThatFallDueAtOnceDoNotFloodAHome(t *testing.T) {
	members := 1000
	if deep.Night() {
		members = 10_000
	}
	s := idle(members, 1)
	s.Demand, s.OnDemand, s.MinInterval = sim.Demand{}, false, 24*time.Hour
	s.Operators = sim.Operators{Scripted: true}
	heard := make([]map[int64]int, members)
	most := 0
	count := sim.EachMember(func(_ *struct{}, _ *sim.Cluster, o *sim.Occurrence) error {
		if o.On(policy.Received) && o.Event.Msg.Kind == call.KindCall {
			if heard[o.Member] == nil {
				heard[o.Member] = map[int64]int{}
			}
			second := int64(o.At) / int64(time.Second)
			heard[o.Member][second]++
			most = max(most, heard[o.Member][second])
		}
		return nil
	})
	c := s.NewCluster(count)
	c.Boot()
	for i := range members {
		c.Give(i, time.Duration(policy.Never), true)
	}
	if err := c.Run(policy.Time(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for i := range members {
		c.Give(i, 0, true)
	}
	if err := c.Run(policy.Time(2*time.Minute + time.Duration(members)*s.Skip/32)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d members fall due at once: a home hears %d calls in a second at most", members, most)
	if most == 0 || most > 400 {
		t.Error("that is too much, or none falls due")
	}
}
