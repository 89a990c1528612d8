package paper

import (
	"context"
	"fmt"
	"math"

	"github.com/wanderd/wanderd/sim/study"
	"github.com/wanderd/wanderd/sim/study/report"
)

// wanderIntervals is table 4.
func wanderIntervals() study.Experiment {
	return study.Experiment{
		Name: "wander-intervals", Title: "Wandering token: the time between two operations on one member",
		Source: "table 4, section 6",
		Shows: "How long a member waits for its next operation. \"The interval between protected operations reflects the progressive " +
			"saturation of the resource moving from 150 to 300 users\".",
		Published: intervalTables(nil),
		Against:   against,
		Do:        runWanderIntervals,
	}
}

// intervalTables compares the intervals as table 4 seems to count them.
func intervalTables(runs map[int][]long) []report.Comparison {
	var all []report.Comparison
	for _, p := range tableFour() {
		rows, there := len(p.rows), runs[p.members]
		labels := stepped(500, 500, rows)
		c := compare(inTitle("Intervals between operations", p.members), "interval from, s", "intervals", labels, p.rows, nil)
		if len(there) > 0 {
			c = compare(c.Title, c.What, c.Unit, labels, p.rows, estimates(rows, len(there), func(run, row int) float64 {
				return at(there[run].undisturbed.bins, row+1)
			}))
		}
		all = append(all, c)
	}
	return all
}

func runWanderIntervals(ctx context.Context, o study.Options) (study.Result, error) {
	runs, wanted, err := longRuns(ctx, o)
	r := study.Result{Wanted: wanted, Comparisons: intervalTables(runs)}
	for i, members := range fleets() {
		r.Runs += len(runs[members])
		r.Plots = append(r.Plots, study.Plot{Name: inName("wander-intervals", members), Chart: r.Comparisons[i].Chart(true)})
		r.Comparisons[i].Notes = []string{"Measured are the intervals during which the member did not itself make a token."}
	}
	r.Tables = []report.Table{allIntervalsTable(runs), missingTable(runs)}
	r.Verdict = "N = 150: reproduced, once counted as the paper seems to; N = 300: not reproduced"
	r.Notes = []string{
		"Table 3 of N = 150 accounts for 1107 more operations than table 4 has intervals, and none of those is 3000 or longer, " +
			"although a member waits longer now and then. Both are so if those intervals are not counted during which " +
			"the member made a token itself: in figure 2 \"lasttoken = token\" then overwrites the time of its last operation.",
		"N = 150, counted so, agrees to within about one percent in the bins that hold all but a few intervals.",
		"N = 300 is not reproduced. The published intervals add up to about 0.47 × 300 × 10⁶ member-seconds, those of N = 150 to " +
			"all of 150 × 10⁶: the run they were counted in seems to be about half as long. See wander-variants.",
	}
	return r, err
}

// allIntervalsTable has every interval, none left out.
func allIntervalsTable(runs map[int][]long) report.Table {
	t := report.Table{
		Title:  "All intervals, none left out",
		Header: []string{"interval from, s", "published, N = 150", "measured", "± 95 %", "published, N = 300", "measured", "± 95 %"},
	}
	row := 0
	for from := paperBin; from < 14*paperBin; from += paperBin {
		cells := []string{report.Number(from.Seconds())}
		for _, members := range fleets() {
			e := mean(runs[members], func(l *long) float64 { return between(l.figures, from, from+paperBin) })
			cells = append(cells, report.Number(at(of(tableFour(), members).rows, row)),
				report.Number(float64(e.Mean)), report.Number(float64(e.Half)))
		}
		t.Rows = append(t.Rows, cells)
		row++
	}
	return t
}

// missingTable compares the operations that have no interval with the tokens that were made.
func missingTable(runs map[int][]long) report.Table {
	t := report.Table{
		Title:  "Operations of table 3 that have no interval in table 4",
		Header: []string{"members", "published", "measured: intervals left out", "± 95 %", "tokens made", "± 95 %"},
		Notes: []string{"Published: the time of all operations in table 3 divided by Δop, less the sum of table 4. The first " +
			"operation of each member has no interval either, if the paper counted none for it."},
	}
	for _, members := range fleets() {
		left := mean(runs[members], func(l *long) float64 { return l.undisturbed.disturbed })
		made := mean(runs[members], func(l *long) float64 { return value(l.figures.Tokens.Generated) })
		t.Rows = append(t.Rows, []string{
			fmt.Sprint(members), report.Number(math.Round(of(tableThree(), members).operations() - of(tableFour(), members).sum())),
			report.Number(float64(left.Mean)), report.Number(float64(left.Half)),
			report.Number(float64(made.Mean)), report.Number(float64(made.Half)),
		})
	}
	return t
}
