package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// wanderVariants looks for the reading of the paper that explains its numbers.
func wanderVariants() study.Experiment {
	var cases []variant
	for _, members := range fleets() {
		for _, r := range readings() {
			cases = append(cases, variant{r, members})
		}
	}
	return study.Surveyed("wander-variants", cases, study.Usually[variant](5), runVariant,
		func(runs [][]variantRun) study.Result {
			var r study.Result
			var losses []report.Table
			var quiet, nearest []study.Figures
			for fleet, all := range slices.Collect(slices.Chunk(runs, len(readings()))) {
				r.Tables = append(r.Tables, variantsTable(fleet, all), variantIntervalTable(fleet, all))
				losses = append(losses, variantLossTable(fleet, all))
				members := fleets()[fleet]
				quiet = append(quiet, study.Figures{"members": members, "quiet": quietFor(members).Seconds()})
				if ran := all[len(all)-1]; len(ran) > 0 {
					length := part(ran, fleet)
					r.Comparisons = append(r.Comparisons, closestTables(fleet, ran, length)...)
					nearest = append(nearest, study.Figures{
						"members": members, "reading": closest().name, "length": length,
					})
				}
			}
			r.Tables = append(r.Tables, losses...)
			for i, c := range r.Comparisons {
				r.Plots = append(r.Plots, study.Plot{
					Name: fmt.Sprintf("wander-variants-%d", i+1), Chart: c.Chart(true),
				})
			}
			r.Figures = study.Figures{"fleets": quiet, "closest": nearest}
			return r
		})
}

// variant is a fleet under one reading.
type variant struct {
	reading reading
	members int
}

// variantRun is one long run of the model under one reading, and some losses of its token.
type variantRun struct {
	tally
	// stable are the times after which the fleet was stable again.
	stable []float64
}

// lossesEach is the number of losses for each long run.
const lossesEach = 20

// quietFor returns for how long there must be exactly one token for a fleet to count as stable: the ruling's Δmax if
// that ever happens, and less in the overloaded fleet.
func quietFor(members int) time.Duration {
	if members == study.Overload {
		return study.MinInterval
	}
	return study.MaxInterval
}

func runVariant(ctx context.Context, v *variant, seed uint64) (variantRun, error) {
	run := variantRun{tally: runModel(v.reading, v.members, seed, longRun.Seconds())}
	for i := range uint64(lossesEach) {
		run.stable = append(run.stable, stabilisation(v.reading, v.members, seed*lossesEach+i, quietFor(v.members).
			Seconds()))
	}
	return run, ctx.Err()
}

// operations returns the number of operations of a run, counted as for the published tables.
func (t *tally) operations() float64 { return column{rows: t.spent[1:]}.operations() }

// part returns which part of a long run has as many operations as published.
func part(runs []variantRun, fleet int) float64 {
	return tableThree()[fleet].operations() / value(
		measure.EstimateBy(runs, func(v *variantRun) float64 { return v.operations() }).Mean)
}

// readingsTable has a line for the published figures, and one for each reading that was run.
func readingsTable(
	fleet int, title string, header, published []string, all [][]variantRun, cells func(runs []variantRun) []string,
) report.Table {
	t := report.Table{
		Title:  inTitle("Readings of the paper: "+title, fleets()[fleet]),
		Header: append([]string{"reading"}, header...), Rows: [][]string{append([]string{"published"}, published...)},
	}
	for i, r := range readings() {
		if len(all[i]) > 0 {
			t.Rows = append(t.Rows, append([]string{r.name}, cells(all[i])...))
		}
	}
	return t
}

// average formats the mean of a figure, with that many decimals.
func average(runs []variantRun, decimals int, figure func(*variantRun) float64) string {
	return fmt.Sprintf("%.*f", decimals, value(measure.EstimateBy(runs, figure).Mean))
}

// percents formats a time as a percentage of a long run.
func percents(units float64) float64 { return 100 * units / longRun.Seconds() }

// variantsTable returns table 3 as it is under each reading.
func variantsTable(fleet int, all [][]variantRun) report.Table {
	three := tableThree()[fleet]
	published := []string{fmt.Sprintf("%.1f", percents(three.sum()))}
	for _, units := range three.rows[:4] {
		published = append(published, report.Number(units))
	}
	published = append(published, report.Missing, report.Missing, report.Number(longRun.Seconds()), report.Missing)
	return readingsTable(fleet, "units of time with so many operations at once",
		[]string{"busy, %", "1", "2", "3", "4", "no token, %", "tokens made", "length", "deviation, %"}, published, all,
		func(runs []variantRun) []string {
			row := []string{average(runs, 1, func(v *variantRun) float64 {
				return percents(longRun.Seconds() - v.spent[0])
			})}
			for level := 1; level <= 4; level++ {
				row = append(row, average(runs, 0, func(v *variantRun) float64 { return at(v.spent, level) }))
			}
			long := part(runs, fleet)
			return append(row, average(runs, 1, func(v *variantRun) float64 { return percents(v.tokenless) }),
				average(runs, 0, func(v *variantRun) float64 { return v.made }),
				fmt.Sprintf("%.0f", long*longRun.Seconds()),
				fmt.Sprintf("%.1f", 100*deviation(printed(fleet), scaled(runs, fleet, long))))
		})
}

// variantIntervalTable returns table 4 as it is under each reading.
func variantIntervalTable(fleet int, all [][]variantRun) report.Table {
	const bins = 5
	three, four := tableThree()[fleet], tableFour()[fleet]
	var published []string
	for _, v := range four.rows[:bins] {
		published = append(published, report.Number(v))
	}
	published = append(published, report.Number(column{rows: four.rows[bins:]}.sum()),
		fmt.Sprintf("%.0f", three.operations()-four.sum()), report.Missing)
	return readingsTable(fleet, "intervals between operations",
		[]string{
			"from 500", "1000", "1500", "2000", "2500", "3000 and over", "left out", "longest of all",
		}, published, all,
		func(runs []variantRun) []string {
			var row []string
			for bin := 1; bin <= bins; bin++ {
				row = append(row, average(runs, 0, func(v *variantRun) float64 { return at(v.bins, bin) }))
			}
			longest := 0
			for i := range runs {
				longest = max(longest, runs[i].longest)
			}
			return append(row,
				average(runs, 0, func(v *variantRun) float64 {
					return column{rows: v.bins[min(bins+1, len(v.bins)):]}.sum()
				}),
				average(runs, 0, func(v *variantRun) float64 { return v.disturbed }),
				fmt.Sprint(longest*int(paperBin.Seconds())))
		})
}

// variantLossTable returns table 5 as it is under each reading.
func variantLossTable(fleet int, all [][]variantRun) report.Table {
	const early = 15_000
	five, quantiles := tableFive()[fleet], []float64{0.5, 0.9, 1}
	published := []string{fmt.Sprintf("%.0f", 100*five.rows[0]/five.sum())}
	for _, p := range quantiles {
		published = append(published,
			report.Number(five.quantile(p, publishedFrom*durationBin.Seconds(), durationBin.Seconds())))
	}
	return readingsTable(fleet, "losses of the token",
		[]string{
			"stable within 15000, %", "p50, s", "p90, s", "longest, s", "not within 200000 s, %",
		}, append(published, "0"), all,
		func(runs []variantRun) []string {
			var stable []float64
			for i := range runs {
				stable = append(stable, runs[i].stable...)
			}
			over, below, never := sorted(stable, early)
			n := float64(len(stable))
			cells := []string{fmt.Sprintf("%.0f", 100*below/n)}
			for _, p := range quantiles {
				cell := report.Missing
				if v := quantile(append(over, slices.Repeat([]float64{math.Inf(1)}, int(never))...), p); !math.IsInf(v,
					0) {
					cell = fmt.Sprintf("%.0f", v)
				}
				cells = append(cells, cell)
			}
			return append(cells, fmt.Sprintf("%.0f", 100*never/n))
		})
}

// printed returns all numbers of tables 3 and 4 for one fleet.
func printed(fleet int) []float64 {
	return slices.Concat(tableThree()[fleet].rows, tableFour()[fleet].rows)
}

// scaled returns the same numbers of the model, in a part of a long run.
func scaled(runs []variantRun, fleet int, part float64) []float64 {
	var numbers []float64
	for row := range tableThree()[fleet].rows {
		numbers = append(numbers, value(levels(runs, row).Mean)*part)
	}
	for row := range tableFour()[fleet].rows {
		numbers = append(numbers, value(bins(runs, row).Mean)*part)
	}
	return numbers
}

// levels and bins return the rows of tables 3 and 4 of the model.
func levels(runs []variantRun, row int) measure.Estimate {
	return measure.EstimateBy(runs, func(v *variantRun) float64 { return at(v.spent, row+1) })
}

func bins(runs []variantRun, row int) measure.Estimate {
	return measure.EstimateBy(runs, func(v *variantRun) float64 { return at(v.bins, row+1) })
}

// closestTables puts the reading that comes closest beside the printed numbers, in runs that are long enough to have as
// many operations.
func closestTables(fleet int, runs []variantRun, length float64) []report.Comparison {
	in := func(rows func([]variantRun, int) measure.Estimate) func([]variantRun, int) measure.Estimate {
		return func(runs []variantRun, row int) measure.Estimate {
			e := rows(runs, row)
			e.Mean, e.Half = e.Mean*measure.Number(length), e.Half*measure.Number(length)
			return e
		}
	}
	one, of := [][]variantRun{runs}, func(table []column) []column { return table[fleet : fleet+1] }
	return slices.Concat(
		compareFleets("Table 3, closest reading", "operations at once", "s", 1, 1, of(tableThree()), one, in(levels)),
		compareFleets("Table 4, closest reading", "interval from, s", "intervals", 500, 500, of(tableFour()), one,
			in(bins)))
}
