package paper

import (
	"context"
	"fmt"

	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/study"
	"github.com/wanderd/wanderd/sim/study/report"
)

// wanderStable is table 3.
func wanderStable() study.Experiment {
	return study.Experiment{
		Name: "wander-stable", Title: "Wandering token: how many operations run at once", Source: "table 3, section 6",
		Shows: "With the members the gate is made for, less than half a percent of the time sees two operations at once, and the " +
			"operation is busy as often as one token can keep it.",
		Published: concurrencyTables("Wandering token", tableThree(), nil),
		Against:   against,
		Do:        runWanderStable,
	}
}

func runWanderStable(ctx context.Context, o study.Options) (study.Result, error) {
	runs, wanted, err := longRuns(ctx, o)
	r := study.Result{Wanted: wanted}
	spent := map[int][][]float64{}
	for _, members := range fleets() {
		r.Runs += len(runs[members])
		for i := range runs[members] {
			spent[members] = append(spent[members], concurrency(runs[members][i].figures))
		}
	}
	r.Comparisons = concurrencyTables("Wandering token", tableThree(), spent)
	for i, members := range fleets() {
		r.Plots = append(r.Plots, study.Plot{Name: inName("wander-stable", members), Chart: r.Comparisons[i].Chart(true)})
	}
	r.Tables = []report.Table{busyTable(runs), beginningTable(runs)}
	busy := mean(runs[study.Overload], func(l *long) float64 { return float64(l.figures.Utilisation) })
	r.Verdict = "N = 150: busy time reproduced, overlap smaller; N = 300: not reproduced"
	r.Notes = []string{
		"N = 150: the busy time agrees. The paper's overlap is three times ours: its simulator seems to run the operation at " +
			"once where a token is made, which figure 2 does not (\"send(token)\"). See wander-variants.",
		fmt.Sprintf("N = 300 is not reproduced: ours is busy for %s of the time, the closed form says %s, the paper %s. Table 4 "+
			"says more: the intervals it has cover less than half of 300 × 10⁶ member-seconds, and there is none over 5000. So the time "+
			"that is missing is not spent between operations; the printed run seems to be about 0.56 × 10⁶ units long. See "+
			"wander-variants.",
			report.Percent(value(busy.Mean)), percent(busyShare(study.Overload)), percent(of(tableThree(), study.Overload).sum()/longRun.Seconds())),
		"The long tail of N = 300 (7, 9 and 10 at once for 4, 2 and 2 units) is how a run begins: at Δmax all members that the " +
			"first token has not reached make one in the same instant. After that first hour six at once are rare, and more do not occur.",
	}
	return r, err
}

// busyTable puts the share of busy time beside what a single token would do by a closed form.
func busyTable(runs map[int][]long) report.Table {
	t := report.Table{
		Title:  "Share of the time with at least one operation",
		Header: []string{"members", "closed form", "published", "measured", "± 95 %", "two or more, published", "two or more, measured"},
		Notes: []string{"The closed form, for one token that is never lost nor doubled: a member is due when the token comes with " +
			"probability h = (1+3h)/(5+3h) at N = 150, and the token's stays are 1 − h + 4h long, of which 4h are busy."},
	}
	for _, members := range fleets() {
		published := of(tableThree(), members)
		busy := mean(runs[members], func(l *long) float64 { return float64(l.figures.Utilisation) })
		overlap := mean(runs[members], func(l *long) float64 { return float64(l.figures.Overlap) })
		t.Rows = append(t.Rows, []string{
			fmt.Sprint(members), percent(busyShare(members)), percent(published.sum() / longRun.Seconds()),
			report.Percent(float64(busy.Mean)), report.Percent(float64(busy.Half)),
			percent((published.sum() - published.rows[0]) / longRun.Seconds()), report.Percent(float64(overlap.Mean)),
		})
	}
	return t
}

// beginningTable tells the first hour of the overloaded fleet from all the rest.
func beginningTable(runs map[int][]long) report.Table {
	t := report.Table{
		Title:  "N = 300: the first hour and all that follows, in seconds",
		Header: []string{"operations at once", "published", "first hour", "± 95 %", "after it", "± 95 %"},
	}
	spent := func(pick func(*long) float64) (average, half string) {
		e := mean(runs[study.Overload], pick)
		return report.Number(float64(e.Mean)), report.Number(float64(e.Half))
	}
	for i, published := range of(tableThree(), study.Overload).rows {
		level := float64(i + 1)
		beginning := func(l *long) float64 { return value(l.beginning.Concurrency.At(level)) }
		first, firstHalf := spent(beginning)
		rest, restHalf := spent(func(l *long) float64 {
			return value(l.figures.Concurrency.At(level)) - beginning(l)
		})
		t.Rows = append(t.Rows, []string{fmt.Sprint(i + 1), report.Number(published), first, firstHalf, rest, restHalf})
	}
	return t
}

func value(n measure.Number) float64 { return float64(n) }
