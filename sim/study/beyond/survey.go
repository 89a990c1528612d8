package beyond

import (
	"context"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/study"
	"github.com/wanderd/wanderd/sim/study/report"
)

// survey is an experiment: some fleets, each run with many seeds, left alone and made to lose their token.
type survey struct {
	name, title, source, shows string
	// cells are the lines of all its tables, world by world.
	cells []cell
	// targets say what is to be reached, by what was measured; nil where nothing is.
	targets func(all []line) []target
	// notes explain what comes out.
	notes []string
	// plots draw it; nil where there is nothing to draw.
	plots func(all []line) []study.Plot
}

// line is a cell and what its runs led to, in the order of their seeds.
type line struct {
	cell
	outcomes []outcome
}

// outcome is what one run of one cell led to.
type outcome struct {
	figures    measure.Figures
	recoveries []recovery
}

// against is what the verdict of an experiment judges.
const against = "Targets"

// noTargets is the verdict where nothing is to be reached.
const noTargets = "none; this shows what happens"

// experiment returns the survey as what is listed, run and written.
func (s *survey) experiment() study.Experiment {
	return study.Surveyed(study.Experiment{Name: s.name, Title: s.title, Source: s.source, Shows: s.shows, Against: against},
		s.cells, (*cell).seedsOf, live, func(runs [][]outcome) study.Result { return s.answer(lines(s.cells, runs)) })
}

// lines puts cells and the outcomes of their runs together.
func lines(cells []cell, runs [][]outcome) []line {
	all := make([]line, len(cells))
	for i := range all {
		all[i] = line{cells[i], runs[i]}
	}
	return all
}

func (s *survey) answer(all []line) study.Result {
	r := study.Result{Verdict: noTargets, Notes: s.notes}
	if s.targets != nil {
		targets := s.targets(all)
		r.Verdict, r.Tables = verdict(targets), []report.Table{targetTable(targets)}
	}
	for _, w := range grouped(all, func(l *line) string { return l.world.name }) {
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

// grouped returns lines that follow one another and have something in common as one.
func grouped[T comparable](all []line, in func(*line) T) [][]line {
	var groups [][]line
	for len(all) > 0 {
		n := 1
		for n < len(all) && in(&all[n]) == in(&all[0]) {
			n++
		}
		groups, all = append(groups, all[:n]), all[n:]
	}
	return groups
}

// live lets a fleet live for a while, and makes another one of the same seed lose its token.
func live(ctx context.Context, c *cell, seed uint64) (outcome, error) {
	s := c.scenario(seed)
	s.Duration = c.settled() + c.duration
	meter := measure.New(measure.Config{Members: c.members, Quiet: quiet})
	reached, err := s.Measure(ctx, nil, meter, &beginning{meter: meter, at: policy.Time(c.settled())})
	one := outcome{figures: meter.Figures(reached)}
	if err == nil && c.faults > 0 {
		one.recoveries, err = tormentAll(ctx, c, seed)
	}
	return one, err
}

// beginning lets a measurement begin when the fleet has settled. It is a [sim.Watcher].
type beginning struct {
	meter *measure.Meter
	at    policy.Time
	over  bool
}

// Watch implements [sim.Watcher].
func (b *beginning) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if !b.over && o.At >= b.at {
		b.over = true
		b.meter.Begin(o.At)
	}
	return nil
}

// loadChart draws a figure of all rules against the load.
func loadChart(all []line, title, y string, figure func(*line) float64) report.Lines {
	chart := report.Lines{Title: title, X: "load: op × members / min_interval", Y: y}
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
