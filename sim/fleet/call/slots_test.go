package call

import (
	"fmt"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// measured runs a fleet in which nothing goes wrong, for so long, after a beginning that does not count.
func measured(t *testing.T, s *Scenario, began, while time.Duration, watchers ...sim.Watcher) *Meter {
	t.Helper()
	m := &Meter{}
	c := s.NewCluster(append(watchers, m)...)
	s.start(c)
	if err := c.Run(policy.Time(began)); err != nil {
		t.Fatal(err)
	}
	m.Reset()
	if err := c.Run(policy.Time(began + while)); err != nil {
		t.Fatal(err)
	}
	return m
}

// withSlots is a fleet with that share of the load that it can carry with all its tokens.
func withSlots(members, slots int, load float64) Scenario {
	s := idle(members, load*float64(slots))
	s.Slots = slots
	return s
}

// A call costs as much as in a gate with one token, and a busy token does not delay it.
func TestACallIsServedByTheTokenThatRests(t *testing.T) {
	for _, slots := range []int{2, 3, 8} {
		for _, members := range []int{10, 150, 1000} {
			t.Run(fmt.Sprintf("%d slots, %d members", slots, members), func(t *testing.T) {
				s := withSlots(members, slots, 0.1)
				m := measured(t, &s, 10*time.Minute, 2000*s.Op*10/time.Duration(slots), newOverlapChecker(),
					newOnceChecker(slots))
				each := float64(m.Sent) / float64(max(m.Runs, 1))
				median, p99 := m.Quantile(0.5), m.Quantile(0.99)
				t.Logf("%d runs: median %v, 99th percentile %v, %.1f datagrams a run", m.Runs, median, p99, each)
				if m.Runs < 1000 || median > 30*time.Millisecond || each > 13 {
					t.Error("that is too much")
				}
			})
		}
	}
}

// With twice the load that it can carry, all tokens of a fleet are in use nearly all the time, and nobody starves.
func TestAllTokensOfAFleetAreBusy(t *testing.T) {
	const members = 150
	for _, slots := range []int{2, 3, 8} {
		t.Run(fmt.Sprintf("%d slots", slots), func(t *testing.T) {
			s := withSlots(members, slots, 2)
			while := 4 * time.Hour / time.Duration(slots)
			m := measured(t, &s, 10*time.Minute, while, newOverlapChecker(), newOnceChecker(slots))
			busy := float64(m.Runs) * s.Op.Seconds() / while.Seconds() / float64(slots)
			p99, each := m.Quantile(0.99), float64(m.Sent)/float64(m.Runs)
			t.Logf("busy %.1f %%, median %v, 99th percentile %v, %.0f datagrams a run", 100*busy, m.Quantile(0.5), p99,
				each)
			if busy < 0.98 || p99 > 390*time.Second/time.Duration(slots) {
				t.Error("that is too little, or too late")
			}
		})
	}
}

// A gate can have 64 tokens: members run under them, each under one at a time.
func TestAGateCanHaveTheMostTokens(t *testing.T) {
	deep.Only(t, "some seconds")
	s := withSlots(100, wire.MaxSlots, 0.3)
	const while = 10 * time.Second
	m := measured(t, &s, 3*time.Second, while, newOverlapChecker(), newOnceChecker(wire.MaxSlots))
	busy := float64(m.Runs) * s.Op.Seconds() / while.Seconds() / wire.MaxSlots
	t.Logf("busy %.1f %%, %.0f datagrams a run", 100*busy, float64(m.Sent)/float64(max(m.Runs, 1)))
	if busy < 0.15 {
		t.Error("that is too little")
	}
}
