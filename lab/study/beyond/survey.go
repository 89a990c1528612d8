package beyond

import (
	"context"
	"slices"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// survey is an experiment: some fleets, each run with many seeds, without faults and with the loss of their token.
type survey struct {
	name string
	// cells are the lines of all its tables, world by world.
	cells []cell
	// targets returns the targets for the measured figures. It is nil if there are none.
	targets func(all []line) []target
	// plots draws the figures. It is nil if there are no plots.
	plots func(all []line) []study.Plot
}

// line is a cell with the outcomes of its runs, in the order of their seeds.
type line struct {
	cell
	outcomes []outcome
}

// outcome is the result of one run of one cell.
type outcome struct {
	figures    measure.Figures
	recoveries []recovery
}

func (s *survey) experiment() study.Experiment {
	return study.Surveyed(s.name, s.cells, (*cell).seedsOf, live, func(runs [][]outcome) study.Result {
		return s.answer(lines(s.cells, runs))
	})
}

func lines(cells []cell, runs [][]outcome) []line {
	all := make([]line, len(cells))
	for i := range all {
		all[i] = line{cells[i], runs[i]}
	}
	return all
}

func (s *survey) answer(all []line) study.Result {
	var r study.Result
	if s.targets != nil {
		targets := s.targets(all)
		r.Figures, r.Tables = judged(targets), []report.Table{targetTable(targets)}
	}
	for _, w := range study.Grouped(all, func(l *line) string { return l.world.name }) {
		r.Tables = append(r.Tables, steadyTable(w))
		if slices.ContainsFunc(w, func(l line) bool { return l.faults > 0 }) {
			r.Tables = append(r.Tables, recoveryTable(w))
		}
	}
	if s.plots != nil {
		r.Plots = s.plots(all)
	}
	return r
}

// live runs a fleet for a while without faults of the token, and another one with the same seed with such faults.
func live(ctx context.Context, c *cell, seed uint64) (outcome, error) {
	s := c.scenario(seed)
	s.Duration = c.settled() + c.duration
	meter, begins, begun := measure.New(measure.Config{Members: c.members, Quiet: quiet}), policy.Time(c.settled()),
		false
	reached, err := s.Measure(ctx, nil, meter, sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if !begun && o.At >= begins {
			begun = true
			meter.Begin(o.At)
		}
		return nil
	}))
	one := outcome{figures: meter.Figures(reached)}
	if err == nil && c.faults > 0 {
		one.recoveries, err = tormentAll(ctx, c, seed)
	}
	return one, err
}

// loadChart draws a figure of all rules against the load.
func loadChart(all []line, title, y string, figure func(*line) float64) report.Chart {
	chart := report.Chart{Title: title, X: "load: op × members / min_interval", Y: y}
	for _, r := range allRules() {
		k := report.Curve{Name: r.name, Published: r.isPaper()}
		for i := range all {
			if l := &all[i]; l.rules == r {
				load := float64(l.members) * float64(l.best().op) / float64(study.MinInterval)
				k.X, k.Y = append(k.X, load), append(k.Y, figure(l))
			}
		}
		chart.Curves = append(chart.Curves, k)
	}
	return chart
}
