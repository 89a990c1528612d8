package paper

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/study"
	"github.com/wanderd/wanderd/sim/study/report"
)

// wanderVariants looks for the reading of the paper that explains its numbers.
func wanderVariants() study.Experiment {
	return study.Experiment{
		Name: "wander-variants", Title: "Wandering token: which reading of the paper explains its numbers",
		Source: "figure 2 against sections 4 to 6; tables 3 and 4",
		Shows: "Where figure 2 and the prose differ, or say nothing, each way to read them is tried in a model without messages. The " +
			"machines are not touched.",
		Published: slices.Concat(concurrencyTables("Wandering token", tableThree(), nil), intervalTables(nil)),
		Against:   against,
		Do:        runWanderVariants,
	}
}

// variantRun is one long run of the model under one reading, and some losses of its token.
type variantRun struct {
	reading, members int
	tally            tally
	// stable are the times after which the fleet was stable again.
	stable []float64
}

// lossesEach is how many losses there are for each long run.
const lossesEach = 20

// quietFor is for how long there must be exactly one token for a fleet to count as stable: the ruling's Δmax where that ever
// happens, and less in the overloaded fleet.
func quietFor(members int) time.Duration {
	if members == study.Overload {
		return study.MinInterval
	}
	return study.MaxInterval
}

func runVariant(r reading, members int, seed uint64) (tally, []float64) {
	var stable []float64
	for i := range uint64(lossesEach) {
		stable = append(stable, stabilisation(r, members, seed*lossesEach+i, quietFor(members).Seconds()))
	}
	return runModel(r, members, seed, longRun.Seconds()), stable
}

func runWanderVariants(ctx context.Context, o study.Options) (study.Result, error) {
	all, seeds, sizes := readings(), o.SeedsOr(5), fleets()
	jobs := len(all) * seeds * len(sizes)
	runs, err := study.Across(ctx, o, jobs, func(ctx context.Context, job int) (variantRun, error) {
		v := variantRun{reading: job % len(all), members: sizes[job/len(all)%len(sizes)]}
		v.tally, v.stable = runVariant(all[v.reading], v.members, uint64(job/len(all)/len(sizes))+1)
		return v, ctx.Err()
	})
	r := study.Result{Runs: len(runs), Wanted: jobs}
	for _, members := range sizes {
		r.Tables = append(r.Tables, variantsTable(all, runs, members), variantIntervalTable(all, runs, members))
	}
	for _, members := range sizes {
		r.Tables = append(r.Tables, variantLossTable(all, runs, members))
	}
	r.Comparisons = closestTables(all, runs)
	for i, c := range r.Comparisons {
		r.Plots = append(r.Plots, study.Plot{Name: fmt.Sprintf("wander-variants-%d", i+1), Chart: c.Chart(true)})
	}
	r.Verdict = "tables 3 and 4 explained: N = 150 as printed, N = 300 if that run was 0.56 × 10⁶ units long; table 5 takes another reading"
	r.Notes = []string{
		"N = 150, tables 3 and 4: explained to within chance, if who makes a token runs the operation at once, Δmin counts from the end " +
			"of a run, Δgen falls back faster than K2 = 0.05 has it (0.5 fits; a fixed Δgen nearly does), and table 4 leaves out the " +
			"intervals during which the member made a token itself. The first of these makes most of the difference.",
		"N = 300, tables 3 and 4: no reading gives 46.8 % busy and the other numbers. Those that lose tokens come near to the busy share, " +
			"but with many intervals over 5000, of which the paper has none. The reading that explains N = 150 gives the numbers of N = 300 " +
			"in the same proportions, if the run was about 0.56 × 10⁶ units long: one length for all of them. Whether the run " +
			"stopped there, or the fleet was without a token until its end, leaves no trace in the tables.",
		"Table 5, N = 150, fits the printed K2 = 0.05 and a maker that counts as having run; with K2 = 0.5 half of the losses never end. So " +
			"no single reading explains tables 3, 4 and 5 at once: they may come from different versions of the simulator.",
		"Removing any other token, as figure 2 has it, leaves the fleet without a token for most of the time, with a fixed Δgen for " +
			"nine tenths of it. Precedence is required.",
	}
	return r, err
}

// pick returns what the runs of one reading and fleet led to.
func pick(runs []variantRun, reading, members int) []tally {
	var tallies []tally
	for _, v := range runs {
		if v.reading == reading && v.members == members {
			tallies = append(tallies, v.tally)
		}
	}
	return tallies
}

// operations is how many operations a run accounts for, counted as for the published tables.
func (t *tally) operations() float64 { return column{rows: t.spent[1:]}.operations() }

// length is how long a run must be for as many operations as published.
func length(tallies []tally, members int) float64 {
	ops := mean(tallies, (*tally).operations)
	return of(tableThree(), members).operations() / value(ops.Mean) * longRun.Seconds()
}

// variantsTable is what table 3 becomes under each reading.
func variantsTable(all []reading, runs []variantRun, members int) report.Table {
	three := of(tableThree(), members)
	t := report.Table{
		Title:  inTitle("Readings of the paper: units of time with so many operations at once", members),
		Header: []string{"reading", "busy, %", "1", "2", "3", "4", "no token, %", "tokens made", "length", "deviation, %"},
		Notes: []string{
			"Length: how long the run must be for as many operations as table 3 accounts for. Deviation: how far the numbers of a run of " +
				"that length are from tables 3 and 4, on average over printed numbers of 500 and more.",
		},
	}
	row := []string{"published", fmt.Sprintf("%.1f", 100*three.sum()/longRun.Seconds())}
	for _, units := range three.rows[:4] {
		row = append(row, report.Number(units))
	}
	t.Rows = append(t.Rows, append(row, report.Missing, report.Missing, report.Number(longRun.Seconds()), report.Missing))
	for i, r := range all {
		tallies := pick(runs, i, members)
		if len(tallies) == 0 {
			continue
		}
		long := length(tallies, members)
		row := []string{r.name, share(tallies, func(t *tally) float64 { return longRun.Seconds() - t.spent[0] })}
		for level := 1; level <= 4; level++ {
			row = append(row, count(tallies, func(t *tally) float64 { return at(t.spent, level) }))
		}
		t.Rows = append(t.Rows, append(row,
			share(tallies, func(t *tally) float64 { return t.tokenless }), count(tallies, func(t *tally) float64 { return t.made }),
			fmt.Sprintf("%.0f", long),
			fmt.Sprintf("%.1f", 100*deviation(printed(members), scaled(tallies, members, long/longRun.Seconds())))))
	}
	return t
}

// variantIntervalTable is what table 4 becomes under each reading.
func variantIntervalTable(all []reading, runs []variantRun, members int) report.Table {
	const bins = 5
	three, four := of(tableThree(), members), of(tableFour(), members)
	t := report.Table{
		Title:  inTitle("Readings of the paper: intervals between operations", members),
		Header: []string{"reading", "from 500", "1000", "1500", "2000", "2500", "3000 and over", "left out", "longest of all"},
		Notes: []string{"Intervals are those during which the member made no token; \"left out\" are the others. The longest, in bins of " +
			"500, is of both."},
	}
	row := []string{"published"}
	for _, v := range four.rows[:bins] {
		row = append(row, report.Number(v))
	}
	t.Rows = append(t.Rows, append(row, report.Number(column{rows: four.rows[bins:]}.sum()),
		fmt.Sprintf("%.0f", three.operations()-four.sum()), report.Missing))
	for i, r := range all {
		tallies := pick(runs, i, members)
		if len(tallies) == 0 {
			continue
		}
		row, longest := []string{r.name}, 0
		for bin := 1; bin <= bins; bin++ {
			row = append(row, count(tallies, func(t *tally) float64 { return at(t.bins, bin) }))
		}
		for _, t := range tallies {
			longest = max(longest, len(t.allBins)-1)
		}
		t.Rows = append(t.Rows, append(row,
			count(tallies, func(t *tally) float64 { return column{rows: t.bins[min(bins+1, len(t.bins)):]}.sum() }),
			count(tallies, func(t *tally) float64 { return t.disturbed }), fmt.Sprint(longest*int(paperBin.Seconds()))))
	}
	return t
}

// count writes the mean of a figure as a whole number, share as a percentage of the time.
func count(tallies []tally, figure func(*tally) float64) string {
	return fmt.Sprintf("%.0f", value(mean(tallies, figure).Mean))
}

func share(tallies []tally, figure func(*tally) float64) string {
	return fmt.Sprintf("%.1f", 100*value(mean(tallies, figure).Mean)/longRun.Seconds())
}

// printed are all numbers of tables 3 and 4 for one fleet.
func printed(members int) []float64 {
	return slices.Concat(of(tableThree(), members).rows, of(tableFour(), members).rows)
}

// scaled are the same numbers of the model, in a run of another length.
func scaled(tallies []tally, members int, share float64) []float64 {
	levels, bins := len(of(tableThree(), members).rows), len(of(tableFour(), members).rows)
	numbers := make([]float64, 0, levels+bins)
	for _, e := range slices.Concat(levelEstimates(tallies, levels), binEstimates(tallies, bins)) {
		numbers = append(numbers, value(e.Mean)*share)
	}
	return numbers
}

func levelEstimates(tallies []tally, levels int) []measure.Estimate {
	return estimates(levels, len(tallies), func(run, row int) float64 { return at(tallies[run].spent, row+1) })
}

func binEstimates(tallies []tally, bins int) []measure.Estimate {
	return estimates(bins, len(tallies), func(run, row int) float64 { return at(tallies[run].bins, row+1) })
}

// closestTables puts the reading that comes closest beside the printed numbers, in runs that are as long as it takes for as
// many operations.
func closestTables(all []reading, runs []variantRun) []report.Comparison {
	var tables []report.Comparison
	last := len(all) - 1
	for _, members := range fleets() {
		tallies := pick(runs, last, members)
		if len(tallies) == 0 {
			continue
		}
		three, four := of(tableThree(), members).rows, of(tableFour(), members).rows
		long := length(tallies, members)
		part := long / longRun.Seconds()
		note := fmt.Sprintf("Measured: the model, %s; a run of %.2f × 10⁶ units.", all[last].name, part)
		for _, c := range []report.Comparison{
			compare(inTitle("Table 3, closest reading", members), "operations at once", "s", numbered(len(three)), three,
				times(levelEstimates(tallies, len(three)), part)),
			compare(inTitle("Table 4, closest reading", members), "interval from, s", "intervals", stepped(500, 500, len(four)), four,
				times(binEstimates(tallies, len(four)), part)),
		} {
			c.Notes = []string{note}
			tables = append(tables, c)
		}
	}
	return tables
}

// times multiplies estimates.
func times(all []measure.Estimate, by float64) []measure.Estimate {
	for i := range all {
		all[i].Mean *= measure.Number(by)
		all[i].Half *= measure.Number(by)
	}
	return all
}
