package wander

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
)

func TestASteadyStepDoesNotAllocate(t *testing.T) {
	s := fleet(150)
	c := s.NewCluster()
	s.start(c)
	if err := c.Run(policy.Time(2 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	before := c.Steps()
	allocations := testing.AllocsPerRun(5, func() {
		if err := c.Run(c.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	})
	if steps := c.Steps() - before; steps < 10_000 {
		t.Fatalf("only %d steps were taken", steps)
	}
	if allocations > 0 {
		t.Errorf("an hour of the nominal fleet allocates %v times", allocations)
	}
}

// large is a fleet so large that its one token could not go round within the paper's Δmax. The default rule's Δmax is
// longer.
func large(members int) Scenario {
	s := fleet(members)
	s.MaxInterval = 0
	return s
}

func TestAMemberOfALargeFleetIsSmall(t *testing.T) {
	const members = 100_000
	before := inUse()
	s := large(members)
	c := s.NewCluster()
	s.start(c)
	if err := c.Run(policy.Time(time.Hour)); err != nil {
		t.Fatal(err)
	}
	perMember := float64(inUse()-before) / members
	runtime.KeepAlive(c)
	t.Logf("%.0f bytes for each member", perMember)
	if perMember > 4272 {
		t.Errorf("%.0f bytes for each member", perMember)
	}
}

// inUse returns how many bytes of the heap are in use.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkStep measures one step of a machine, with everything that the simulator does around it, in fleets of all
// sizes with one token each. Other simulators call steps/s events per second.
func BenchmarkStep(b *testing.B) {
	for members := 100; members <= 1_000_000; members *= 10 {
		b.Run(fmt.Sprintf("N=%d", members), func(b *testing.B) {
			before := inUse()
			s := large(members)
			c := s.NewCluster()
			s.start(c)
			if err := c.Run(policy.Time(time.Hour)); err != nil {
				b.Fatal(err)
			}
			perMember := float64(inUse()-before) / float64(members)
			steps, from := c.Steps(), c.Now()
			b.ReportAllocs()
			b.ResetTimer()
			for c.Steps()-steps < uint64(b.N) {
				if err := c.Run(c.Now().Add(time.Second)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(c.Steps()-steps)/b.Elapsed().Seconds(), "steps/s")
			b.ReportMetric(c.Now().Sub(from).Seconds()/b.Elapsed().Seconds(), "simulated_s/s")
			b.ReportMetric(perMember, "B/member")
		})
	}
}

// BenchmarkMillionSeconds measures 10⁶ simulated seconds, from the first one: of the paper's fleet, with all three
// messages of every handoff, and of a fleet of 100,000 members.
func BenchmarkMillionSeconds(b *testing.B) {
	sweep := large(100_000)
	sweep.Walk = wander.Sweep
	guarded := fleet(150)
	guarded.Backups = 2
	for name, s := range map[string]Scenario{
		"N=150": fleet(150), "N=150,backups=2": guarded, "N=100000": large(100_000), "N=100000,sweep": sweep,
	} {
		b.Run(name, func(b *testing.B) {
			s.Duration = 1_000_000 * time.Second
			steps := uint64(0)
			for range b.N {
				c := s.NewCluster()
				s.start(c)
				if _, err := c.RunFor(b.Context(), policy.Time(s.Duration), nil); err != nil {
					b.Fatal(err)
				}
				steps = c.Steps()
			}
			b.ReportMetric(float64(steps), "steps")
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(steps)/float64(b.N), "ns/step")
		})
	}
}

// BenchmarkSeed measures one seed of the sweep, with all checkers.
func BenchmarkSeed(b *testing.B) {
	steps := uint64(0)
	for i := range b.N {
		s := Draw(uint64(i) + 1)
		steps += s.Explore().Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}
