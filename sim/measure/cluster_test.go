package measure

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// nominal is the paper's fleet (Ciuffoletti, table 2): one token, and only the meter watches.
func nominal(members int, watchers ...sim.Watcher) *sim.Cluster {
	s := wandering.Scenario{
		Seed: 1, Members: members, Skip: time.Second, Op: 4 * time.Second,
		MinInterval: 600 * time.Second, MaxInterval: quiet,
		Network: sim.Network{Latency: time.Millisecond}, Hook: sim.Hook{Takes: 4 * time.Second},
	}
	c := s.NewCluster(watchers...)
	c.Boot()
	return c
}

// auditor compares the accounts of a meter with the machines' own status, after every step.
type auditor struct {
	meter *Meter
	c     *sim.Cluster
}

func (a *auditor) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	a.c = c
	if err := a.meter.Watch(c, o); err != nil {
		return err
	}
	k := &a.meter.custody
	if k.generated+k.revived-k.removed-k.lost != k.alive {
		return fmt.Errorf("%d generated, %d revived, %d removed, %d lost: not %d alive",
			k.generated, k.revived, k.removed, k.lost, k.alive)
	}
	if !o.Completes() {
		return nil
	}
	for slot := range k.bySlot {
		hands, holding := k.members[o.Member].hands[slot], c.SlotStatus(o.Member, slot).Holding
		if (hands == 1) != holding || hands > 1 {
			return fmt.Errorf("%s has %d tokens of slot %d in its hands; holding: %v", sim.MemberName(o.Member), hands,
				slot, holding)
		}
	}
	return nil
}

func TestTheMeterAgreesWithTheMachinesUnderAllFaults(t *testing.T) {
	generated, lost, recovered := Number(0), Number(0), Number(0)
	seeds := deep.Of[uint64](40, 80, 200)
	for seed := uint64(1); seed <= seeds; seed++ {
		s := wandering.Draw(seed)
		quiet := 3 * max(s.MinInterval, s.MaxInterval, time.Duration(s.Members)*s.Op)
		audit := &auditor{meter: New(Config{Members: s.Members, Slots: s.Tokens(), Quiet: quiet})}
		together := NewConcurrency()
		out := s.Explore(audit, together)
		if out.Err != nil {
			t.Fatalf("seed %d: %v", seed, out.Err)
		}
		holders := 0
		for i := range s.Members {
			if !audit.c.Up(i) {
				continue
			}
			for slot := range s.Tokens() {
				if audit.c.SlotStatus(i, slot).Holding {
					holders++
				}
			}
		}
		k := &audit.meter.custody
		if k.alive != holders+len(k.pending) {
			t.Errorf("seed %d: %d members hold a token, %d are under way, and %d are taken for alive",
				seed, holders, len(k.pending), k.alive)
		}
		for _, h := range k.pending {
			if age := out.At.Sub(h.since); age > 2*max(s.Skip, time.Second)+2*(s.Network.Latency+s.Network.Jitter) {
				t.Errorf("seed %d: a handoff is taken to be under way for %v", seed, age)
			}
		}
		f := audit.meter.Figures(out.At)
		spent := together.Spent(out.At)
		for len(spent) > 1 && spent[len(spent)-1] == 0 {
			spent = spent[:len(spent)-1]
		}
		if want := levelTable(spent); !slices.Equal(f.Concurrency, want) {
			t.Errorf("seed %d: concurrency %v, want %v", seed, f.Concurrency, want)
		}
		generated, lost, recovered = generated+f.Tokens.Generated, lost+f.Tokens.Lost, recovered+f.Recovery.Count
	}
	if each := Number(seeds); generated < each*3/2 || lost < each/2 || recovered < each/4 {
		t.Errorf("%v tokens, %v lost, %v recoveries: too little happens for this to show anything", generated, lost,
			recovered)
	}
}

// PAPERS: at N=150 a hungry share h = (1+3h)/(5+3h) gives h = 1/3, and two thirds of the time busy.
func TestTheNominalFleetIsBusyTwoThirdsOfTheTime(t *testing.T) {
	m := New(Config{Members: 150, Quiet: quiet})
	c := nominal(150, m)
	if err := c.Run(policy.Time(2_000 * time.Second)); err != nil {
		t.Fatal(err)
	}
	m.Begin(c.Now())
	if err := c.Run(policy.Time(100_000 * time.Second)); err != nil {
		t.Fatal(err)
	}
	f := m.Figures(c.Now())
	if f.Utilisation < 0.65 || f.Utilisation > 0.68 || f.Overlap > 0.01 {
		t.Errorf("busy %v, overlap %v of the time, want 0.667 and next to nothing", f.Utilisation, f.Overlap)
	}
	if f.WarmUp != 2_000 || f.WarmUp+f.Duration != 100_000 {
		t.Errorf("%v s were measured after %v s", f.Duration, f.WarmUp)
	}
	// Now and then a random walk leaves a member alone for so long that the member makes a spurious token, which is
	// soon removed.
	if f.Tokens.Lost != 0 || f.Tokens.Generated == 0 || f.Tokens.Live.At(0) != 0 ||
		f.Tokens.Live.At(1) < 0.99*f.Duration {
		t.Errorf("tokens %+v, want one, and for a short time another", f.Tokens)
	}
	if f.Interval.P50 < 600 || f.Interval.Max < f.Interval.P99 || f.Interval.P99 < f.Interval.P90 {
		t.Errorf("intervals %+v", f.Interval)
	}
	if perHop := f.Messages / f.Hops; perHop < 2.99 || perHop > 3.01 {
		t.Errorf("%v messages a hop, want the three of a handoff", perHop)
	}
	inOperation := Number(0)
	for _, e := range f.Concurrency {
		inOperation += Number(e.Key) * e.Value
	}
	if each := inOperation / f.Operations; each < 3.999 || each > 4.001 {
		t.Errorf("%v operations took %v s each, want 4", f.Operations, each)
	}
}

func TestLosingTheTokenIsMeasuredAsARecovery(t *testing.T) {
	m := New(Config{Members: 20, Quiet: quiet})
	c := nominal(20, m)
	run := func(d time.Duration) {
		t.Helper()
		if err := c.Run(c.Now().Add(d)); err != nil {
			t.Fatal(err)
		}
	}
	run(time.Hour)
	if !m.Stable(c.Now()) {
		t.Fatal("an hour without faults, and the fleet is not stable")
	}
	for i := range c.Members() {
		if c.Status(i).Holding {
			c.Crash(i)
			c.Start(i)
		}
	}
	lost := m.Figures(c.Now()).Tokens.Lost
	run(24 * time.Hour)
	f := m.Figures(c.Now())
	if lost > 1 || f.Tokens.Lost < 1 || f.Recovery.Count != 1 {
		t.Fatalf("%v lost at once, tokens %+v, recovery %+v: want one of each", lost, f.Tokens, f.Recovery)
	}
	if f.Recovery.Max < 1 || f.Recovery.Max > 12*3600 || f.Tokenless.Max > f.Recovery.Max {
		t.Errorf("recovery %+v, tokenless %+v", f.Recovery, f.Tokenless)
	}
}

func TestAMeasuredStepDoesNotAllocate(t *testing.T) {
	m := New(Config{Members: 150, Quiet: quiet})
	c := nominal(150, m)
	if err := c.Run(policy.Time(24 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	hops := m.hops
	allocations := testing.AllocsPerRun(5, func() {
		if err := c.Run(c.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	})
	if hops = m.hops - hops; hops < 1000 {
		t.Fatalf("only %d hops were made", hops)
	}
	if allocations > 0 {
		t.Errorf("an hour of the nominal fleet allocates %v times", allocations)
	}
}

// BenchmarkStep measures the cost of a step of the nominal fleet without a meter and with one.
func BenchmarkStep(b *testing.B) {
	for name, watchers := range map[string][]sim.Watcher{
		"bare": nil, "measured": {New(Config{Members: 150, Quiet: quiet})},
	} {
		b.Run(name, func(b *testing.B) {
			c := nominal(150, watchers...)
			if err := c.Run(policy.Time(time.Hour)); err != nil {
				b.Fatal(err)
			}
			before, from := c.Steps(), c.Now()
			b.ReportAllocs()
			for b.Loop() {
				for target := c.Steps() + 1; c.Steps() < target; {
					_ = c.Run(c.Now().Add(time.Second))
				}
			}
			steps := float64(c.Steps() - before)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/steps, "ns/step")
			b.ReportMetric(c.Now().Sub(from).Seconds()/b.Elapsed().Seconds(), "simulated_s/s")
		})
	}
}
