package tree

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim"
)

func BenchmarkThousand(b *testing.B) {
	for b.Loop() {
		w := NewWorld(Scenario{
			Seed: 1, Members: 1000, Backups: 2, Recovery: tree.Fair,
			Timers: tree.Timers{
				Commit: 3950 * time.Millisecond, Token: 3950 * time.Millisecond,
				Reconnection: 1480 * time.Millisecond, Liveness: 148 * time.Millisecond,
			},
			Network: sim.Network{Latency: 10 * time.Millisecond}, Section: 100 * time.Millisecond,
			Between: 10 * time.Minute, Limit: 1_000_000 * time.Second,
		})
		f, err := w.Run()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(f.Obtaining)), "sections")
		b.ReportMetric(float64(f.Steps), "steps")
		b.ReportMetric(float64(f.Sent)/float64(len(f.Obtaining)), "sent/section")
	}
}
