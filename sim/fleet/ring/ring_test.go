package ring

import (
	"math"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// measured lets a ring with the paper's links live, and returns its figures.
func measured(t *testing.T, s Scenario) Figures {
	t.Helper()
	s.Seed = 1
	meter := NewMeter(s.Members)
	now, err := s.Measure(t.Context(), nil, meter)
	if err != nil {
		t.Fatal(err)
	}
	return meter.Figures(now)
}

func onPaperLinks(request ring.Request, members int, demand, op, latency, duration time.Duration) Scenario {
	return Scenario{
		Members: members, Request: request, Network: PaperLinks(latency), Membership: PerfectDetector(),
		Hook: sim.Hook{Takes: op}, Demand: sim.Demand{Every: demand}, Duration: duration,
	}
}

// One request at a time from a member drawn at random: n − 1 messages with Martin and Q, (2n−1)(n−1)/n with D.
func TestRareRequestsCostTheClosedForms(t *testing.T) {
	const n = 16
	for request, want := range map[ring.Request]float64{
		ring.Martin: n - 1, ring.Q: n - 1, ring.D: (2*n - 1) * (n - 1.0) / n,
	} {
		f := measured(t, onPaperLinks(request, n, 1000*time.Second, time.Millisecond, time.Microsecond,
			300_000*time.Second))
		if got := f.MessagesPerRequest(); math.Abs(got-want) > 0.02*want || f.Runs < 4000 {
			t.Errorf("%v: %.3f messages per request, want %.3f; %d served", request, got, want, f.Runs)
		}
	}
}

// A token that always moves, n hop times and demand g for each member: 1/(1−e^−g) messages per request.
func TestATokenThatAlwaysMovesCostsTheClosedForm(t *testing.T) {
	const n, hop = 16, time.Millisecond
	for _, g := range []float64{0.1, 0.5, 2} {
		// Each member asks again some time after its last run. The mean of that time is a round divided by g.
		demand := time.Duration(n * float64(hop) / g)
		f := measured(t, onPaperLinks(ring.Always, n, demand, 1, hop, 200*time.Second))
		want := 1 / (1 - math.Exp(-g))
		if got := f.MessagesPerRequest(); math.Abs(got-want) > 0.02*want {
			t.Errorf("g = %v: %.3f messages per request, want %.3f", g, got, want)
		}
	}
}

// "Both: no message at all while nobody asks."
func TestAnIdleRingIsSilent(t *testing.T) {
	for _, request := range []ring.Request{ring.Martin, ring.Q, ring.D} {
		if f := measured(t, onPaperLinks(request, 5, 0, time.Second, time.Millisecond,
			1000*time.Second)); f.Datagrams != 0 {
			t.Errorf("%v: %d messages", request, f.Datagrams)
		}
	}
}

// Over UDP a hop of the token is three datagrams, and a hop of a request two. The figures are in the paper's units all
// the same.
func TestUDPCostsMoreDatagramsAndNoMoreMessages(t *testing.T) {
	const n = 16
	for request, want := range map[ring.Request]float64{
		ring.Martin: n - 1, ring.Q: n - 1, ring.D: (2*n - 1) * (n - 1.0) / n,
	} {
		s := onPaperLinks(request, n, 1000*time.Second, time.Millisecond, time.Millisecond, 50_000*time.Second)
		s.Links, s.Network.FIFO = ring.UDP, false
		f := measured(t, s)
		if got := f.MessagesPerRequest(); math.Abs(got-want) > 0.08*want ||
			f.Datagrams != 3*f.TokenMoves+2*f.RequestMessages {
			t.Errorf("%v: %.3f messages per request, want %.3f; %+v", request, got, want, f)
		}
	}
}

// With k copies, k crashes in a row lose no token, and every living member is served.
func TestTheRingGoesOnAfterCrashes(t *testing.T) {
	for _, request := range ring.Requests() {
		s := onPaperLinks(request, 8, 10*time.Second, 100*time.Millisecond, 10*time.Millisecond, 20_000*time.Second)
		s.Backups = 3
		s.Faults = sim.Faults{CrashEvery: 1000 * time.Second, DownFor: 100 * time.Second}
		f := measured(t, s)
		if f.Regenerated == 0 || f.Overlap > 0 || f.Obtaining.Max > 30 || f.Runs < 10_000 {
			t.Errorf("%v: %+v", request, f)
		}
	}
}

// Over UDP a lost Commit is sent again, and nobody notices. If all Commits of one handoff are lost, the receiver calls:
// the call finds no token, and the receiver regenerates it.
func TestALostCommitIsRepeatedAndALostTokenIsRegenerated(t *testing.T) {
	for lost, remade := range map[int]int{1: 0, 1000: 1} {
		s := onPaperLinks(ring.Q, 5, 0, time.Second, time.Millisecond, time.Minute)
		s.Links, s.Order, s.Seed = ring.UDP, sim.InOrder, 1
		meter := NewMeter(s.Members)
		c := s.NewCluster(append(s.Checkers(), meter)...)
		c.Boot()
		left := lost
		exchange := wire.Exchange(0)
		c.Intercept(func(m *wire.Message) sim.Fate {
			if m.Kind != handoff.KindCommit || left == 0 || exchange != 0 && m.Exchange != exchange {
				return sim.Fate{}
			}
			exchange = m.Exchange
			left--
			return sim.Fate{Lose: true}
		})
		c.Want(3)
		if err := c.Run(policy.Time(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if f := meter.Figures(c.Now()); f.Runs != 1 || f.Regenerated != remade {
			t.Errorf("%d Commits lost: %+v", lost, f)
		}
	}
}
