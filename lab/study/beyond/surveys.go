package beyond

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy/wander"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/report"
)

// The mean times for which a member that crashes is up and down.
const (
	meanUp   = 10_000 * time.Second
	meanDown = 600 * time.Second
)

// Uneven operations take between shortest and longest.
const (
	shortest = 1 * time.Second
	longest  = 16 * time.Second
)

// accepted is the greatest share of time with overlap if messages are lost or members crash.
const accepted = 0.0001

// surveys returns all surveys, in the order of the page.
func surveys() []survey {
	crashing := world{
		name: "members crash", up: float64(meanUp) / float64(meanUp+meanDown),
		change: func(s *wandering.Scenario) { s.Faults.CrashEvery, s.Faults.DownFor = meanUp, meanDown },
	}
	broken := world{name: "5 % of the links broken", change: func(s *wandering.Scenario) { s.Network.Broken = 0.05 }}
	uneven := world{name: "operations of 1 to 16 s", change: func(s *wandering.Scenario) {
		s.Hook.Takes, s.Hook.Spread = (shortest+longest)/2, float64(longest-shortest)/float64(longest+shortest)
	}}
	lossy := func(percent int) world {
		return world{
			name:   fmt.Sprintf("%d %% of the datagrams lost", percent),
			change: func(s *wandering.Scenario) { s.Network.Loss = float64(percent) / 100 },
		}
	}
	return []survey{
		{name: "beyond-calm", cells: papersFleets(world{}), targets: calmTargets},
		{
			name: "beyond-large", targets: recoveryTargets,
			cells: changed(cells(world{}, 1000, 10_000), func(c *cell) {
				c.seeds, c.faults = usualSeeds/2, 2*usualFaults
				if c.members == 10_000 {
					c.duration, c.seeds, c.faults = 200_000*time.Second, 2, 50
				}
				if c.rules.isPaper() {
					c.faults = 0
				}
			}),
		},
		{
			name: "beyond-loss", cells: slices.Concat(papersFleets(lossy(1)), papersFleets(lossy(5))),
			targets: overlapTargets,
		},
		{name: "beyond-crashes", cells: papersFleets(crashing), targets: overlapTargets},
		{name: "beyond-links", cells: papersFleets(broken)},
		{name: "beyond-times", cells: papersFleets(uneven)},
		{
			name: "beyond-loads", plots: loadPlots,
			cells: changed(cells(world{}, 15, 30, 75, 120, 150, 225, 300), func(c *cell) {
				c.seeds, c.faults = usualSeeds/2, 2*usualFaults
			}),
		},
	}
}

// loadPlots draws how near each walk comes to the best possible under each load.
func loadPlots(all []line) []study.Plot {
	return []study.Plot{
		{Name: "beyond-loads-busy", Chart: loadChart(all, "Busy, of the best possible", "share, %",
			func(l *line) float64 {
				return 100 * l.steady().busy / l.best().busy
			})},
		{Name: "beyond-loads-interval", Chart: loadChart(all, "99 % of the intervals are below, of the best possible",
			"times",
			func(l *line) float64 { return l.steady().p99 / l.best().interval.Seconds() })},
	}
}

// calmTargets returns the targets of a world without faults: no overlap, 99 % of the best possible use, no interval
// longer than 1.05 × the best possible, and no more messages than a handoff and its guardians take.
func calmTargets(all []line) []target {
	sweep := func(r *rules) bool { return ours(r) && r.walk == wander.Sweep }
	return slices.Concat(
		each(all, ours, func(l *line) target {
			return l.target("two at once", "0.43 %", "9 %", l.steady().overlap, 0, report.Percent)
		}),
		each(all, sweep, func(l *line) target {
			t := l.target("busy, of the best", "67 %", "47 %", l.steady().busy/l.best().busy, 0.99, report.Percent)
			t.least = true
			return t
		}),
		each(all, sweep, func(l *line) target {
			return l.target("longest interval", "over 2500 s", "over 4500 s", l.steady().longest,
				1.05*l.best().interval.Seconds(), inSeconds)
		}),
		each(all, ours, func(l *line) target {
			return l.target("messages per handoff", "3", "3", l.steady().perHandoff, l.steady().allowed, report.Number)
		}),
		recoveryTargets(all),
	)
}

// overlapTargets returns the accepted overlap as a target for every line of wanderd's rules.
func overlapTargets(all []line) []target {
	return each(all, ours, func(l *line) target {
		return l.target("two at once", "", "", l.steady().overlap, accepted, report.Percent)
	})
}
