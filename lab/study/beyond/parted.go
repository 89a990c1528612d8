package beyond

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// The duration of the partition, the share of the smaller side, and how long the fleet is watched afterwards.
const (
	partedFor    = 3000 * time.Second
	partedShare  = 0.5
	watchedAfter = 20_000 * time.Second
)

// parted is an experiment in which the network is parted for a while. Each side gets a token of its own; afterwards
// there is one too many.
func parted() study.Experiment {
	all := papersFleets(world{})
	return study.Surveyed("beyond-parted", all, (*cell).seedsOf, part, func(runs [][]parting) study.Result {
		return study.Result{Tables: []report.Table{duringTable(all, runs), afterTable(all, runs)}}
	})
}

// parting is the result of one partition, while it lasted and afterwards.
type parting struct {
	during, after measure.Figures
	// both is the time from the partition until both halves had a token. single is the time from its end until there
	// was one for good. They are negative if that did not happen.
	both, single time.Duration
}

// splitter measures one partition. It implements [sim.Watcher].
type splitter struct {
	meter         *measure.Meter
	holders       holders
	cutAt, healed policy.Time
	parting
}

// Watch implements [sim.Watcher].
func (s *splitter) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	s.holders.watch(o)
	switch {
	case o.Kind == sim.Cut:
		s.cutAt = o.At
		s.meter.Begin(o.At)
	case o.Kind == sim.Healed:
		s.healed = o.At
		s.during = s.meter.Figures(o.At)
		s.meter.Begin(o.At)
	case s.both < 0 && s.cutAt > 0 && s.healed == 0 && s.holders.count > 1:
		s.both = o.At.Sub(s.cutAt)
	}
	return nil
}

// part runs a cell until some while after a partition.
func part(ctx context.Context, c *cell, seed uint64) (parting, error) {
	s := c.scenario(seed)
	s.Duration = c.settled() + partedFor + watchedAfter
	s.Faults.Partition = sim.Partition{At: c.settled(), For: partedFor, Share: partedShare}
	w := &splitter{
		meter: measure.New(measure.Config{Members: c.members, Quiet: quiet}), holders: newHolders(c.members),
		parting: parting{both: -1, single: -1},
	}
	reached, err := s.Measure(ctx, nil, w.meter, w)
	w.after = w.meter.Figures(reached)
	if w.holders.one(reached, quiet) {
		w.single = max(w.holders.since.Sub(w.healed), 0)
	}
	return w.parting, err
}

func duringTable(all []cell, runs [][]parting) report.Table {
	t := report.Table{
		Title: "While the network is parted",
		Header: []string{
			"members, rules", "partitions", "both halves have a token", "after p50, s", "longest, s", "busy",
			"two at once", "tokens, mean",
		},
	}
	for i := range all {
		var both []time.Duration
		var busy, overlap, tokens float64
		for _, p := range runs[i] {
			if p.both >= 0 {
				both = append(both, p.both)
			}
			busy, overlap = busy+float64(p.during.Utilisation), overlap+float64(p.during.Overlap)
			for _, e := range p.during.Tokens.Live {
				tokens += e.Key * float64(e.Value) / partedFor.Seconds()
			}
		}
		n, s := float64(len(runs[i])), measure.SpreadOf(both)
		t.Rows = append(t.Rows, []string{
			all[i].label(), report.Number(n), report.Percent(float64(s.Count) / n), number(s.P50), number(s.Max),
			report.Percent(busy / n), report.Percent(overlap / n), report.Number(tokens / n),
		})
	}
	return t
}

func afterTable(all []cell, runs [][]parting) report.Table {
	t := report.Table{
		Title: "When the network is whole again",
		Header: []string{
			"members, rules", "one token for good: p50, s", "p90, s", "longest, s", "not within 19400 s",
			"two at once: mean, s", "most, s",
			"longest interval, s",
		},
	}
	for i := range all {
		var single []time.Duration
		var overlaps, longest []float64
		for _, p := range runs[i] {
			if p.single >= 0 {
				single = append(single, p.single)
			}
			overlaps = append(overlaps, float64(p.after.Overlap)*float64(p.after.Duration))
			longest = append(longest, float64(p.after.Interval.Max), float64(p.after.Interval.Open))
		}
		s := measure.SpreadOf(single)
		mean, most := meanAndMost(overlaps)
		_, wait := meanAndMost(longest)
		t.Rows = append(t.Rows, []string{
			all[i].label(), number(s.P50), number(s.P90), number(s.Max),
			report.Number(float64(len(runs[i]) - len(single))),
			report.Number(mean), report.Number(most), whole(wait),
		})
	}
	return t
}

// meanAndMost returns NaN if there are no samples.
func meanAndMost(samples []float64) (mean, most float64) {
	if len(samples) == 0 {
		return math.NaN(), math.NaN()
	}
	for _, v := range samples {
		mean += v
	}
	return mean / float64(len(samples)), slices.Max(samples)
}
