package ring

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
)

// BenchmarkMillionSeconds measures 10⁶ simulated seconds of 150 members on Q. On average, each asks again ten minutes
// after its last run. Operations take 4 s in one case, and a millisecond in the other.
func BenchmarkMillionSeconds(b *testing.B) {
	for name, op := range map[string]time.Duration{"op=4s": 4 * time.Second, "op=1ms": time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				s := Scenario{
					Seed: 1, Members: 150, Request: ring.Q, Network: PaperLinks(time.Millisecond),
					Membership: PerfectDetector(),
					Hook:       sim.Hook{Takes: op}, Demand: sim.Demand{Every: 10 * time.Minute},
					Duration: 1_000_000 * time.Second,
				}
				c := s.NewCluster()
				c.Boot()
				if err := c.Run(1_000_000 * 1e9); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(c.Steps()), "steps")
			}
		})
	}
}
