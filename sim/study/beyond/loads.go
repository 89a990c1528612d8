package beyond

import (
	"github.com/wanderd/wanderd/sim/study"
	"github.com/wanderd/wanderd/sim/study/report"
)

// load is op × members / min_interval.
func (c *cell) load() float64 {
	return float64(c.members) * float64(c.best().op) / float64(study.MinInterval)
}

// loads are fleets of other sizes than the paper's: from a tenth of the load that one token can serve to twice as much.
func loads() survey {
	all := cells(world{}, 15, 30, 75, 120, 150, 225, 300)
	for i := range all {
		all[i].seeds, all[i].faults = usualSeeds/2, 2*usualFaults
	}
	return survey{
		name: "beyond-loads", title: "Loads from 0.1 to 2", source: "not in the paper",
		shows: "Fleets of 15 to 300 members, the constants as ever: a load of 1 is N = 150. Half as many runs as elsewhere.",
		cells: all,
		notes: func([]line) []string {
			return []string{
				"Below a load of 1 a sweep waits with the token at whoever is due next, so that nobody waits longer than need be. random " +
					"and shuffle come by at odd times, and a member that is due waits for half a lap on average.",
			}
		},
		plots: func(all []line) []study.Plot {
			return []study.Plot{
				{Name: "beyond-loads-busy", Chart: loadChart(all, "Busy, of the best possible", "share, %", func(l *line) float64 {
					return 100 * l.steady().busy / l.best().busy
				})},
				{Name: "beyond-loads-interval", Chart: loadChart(all, "99 % of the intervals are below, of the best possible", "times",
					func(l *line) float64 { return l.steady().p99 / l.best().interval.Seconds() })},
			}
		},
	}
}

// loadChart draws a figure of all rules against the load.
func loadChart(all []line, title, y string, figure func(*line) float64) report.Lines {
	chart := report.Lines{Title: title, X: "load: op × members / min_interval", Y: y}
	for _, r := range allRules() {
		k := report.Curve{Name: r.name, Published: r.isPaper()}
		for i := range all {
			if l := &all[i]; l.rules == r {
				k.X, k.Y = append(k.X, l.load()), append(k.Y, figure(l))
			}
		}
		chart.Curves = append(chart.Curves, k)
	}
	return chart
}
