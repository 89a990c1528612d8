package compare

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/report"
)

//go:embed page.md.tmpl
var text string

// Page returns the comparison.
func Page() study.Page { return study.Written("compare", text, sideBySide(), afterLosses()) }

// measured is the mean of a course's runs over the seeds.
type measured struct {
	*course
	p50, p99, messages, fairness, busy, overlap, recovery, idle float64
}

// sideBySide runs every contender on every course.
func sideBySide() study.Experiment {
	all := courses()
	e := study.Surveyed("compare", all, study.Usually[course](1), live, func(runs [][]outcome) study.Result {
		return answer(all, runs)
	})
	e.Given = study.Figures{
		"members": disturbed, "op": op, "spread": 100 * spread, "latency": latency, "slowest": latency + jitter,
		"lasts": lasts, "lastsRarely": lastsRarely, "backups": backups,
		"skip": skip, "suspectAfter": suspectAfter, "crashes": crashes,
	}
	return e
}

func answer(all []course, runs [][]outcome) study.Result {
	var list []measured
	for i, of := range runs {
		list = append(list, average(&all[i], of))
	}
	var r study.Result
	holds, figures := advice(list)
	held := 0
	for _, h := range holds {
		if h {
			held++
		}
	}
	figures["held"], figures["sentences"] = held, len(holds)
	r.Figures = figures
	for _, load := range loads() {
		title := fmt.Sprintf("Time from a demand to its run at %s × the capacity, median / 99th percentile, s",
			number(load))
		r.Tables = append(r.Tables, bySize(list, title, load, func(m *measured) string {
			return number(m.p50) + " / " + number(m.p99)
		}))
	}
	for _, load := range loads() {
		title := fmt.Sprintf("Datagrams for each run at %s × the capacity", number(load))
		r.Tables = append(r.Tables, bySize(list, title, load, func(m *measured) string { return number(m.messages) }))
	}
	r.Tables = append(r.Tables, bySize(list, "Datagrams a minute while nobody asks", idle,
		func(m *measured) string { return number(m.idle) }))
	for _, f := range []fault{noFault, ofCrashes, ofLoss} {
		r.Tables = append(r.Tables, underFault(list, f))
	}
	r.Plots = []study.Plot{
		{Name: "compare-obtaining", Chart: curves(list, 0.1, "Time from a demand to its run at a tenth of the "+
			"capacity, median", "s", func(m *measured) float64 { return m.p50 })},
		{Name: "compare-obtaining-busy", Chart: curves(list, 1, "Time from a demand to its run at capacity, 99th "+
			"percentile", "s", func(m *measured) float64 { return m.p99 })},
		{Name: "compare-messages", Chart: curves(list, 0.1, "Datagrams for each run at a tenth of the capacity",
			"datagrams", func(m *measured) float64 { return m.messages })},
	}
	r.Points = points(list)
	return r
}

func average(c *course, of []outcome) measured {
	m := measured{course: c}
	n := float64(len(of))
	for i := range of {
		o := &of[i]
		m.p50 += o.Obtaining.P50 / n
		m.p99 += o.Obtaining.P99 / n
		m.messages += o.messagesPerRun() / n
		m.fairness += o.Fairness / n
		m.busy += o.Busy / n
		m.overlap += o.Overlap / n
		m.recovery += longest(o.recoveries) / n
		m.idle += o.idle / n
	}
	return m
}

// one returns a figure of a contender on a course.
func one(list []measured, name string, members int, load float64, f fault) *measured {
	i := slices.IndexFunc(list, func(m measured) bool {
		return m.contender.name == name && m.members == members && m.load == load && m.fault == f
	})
	return &list[i]
}

// bySize returns a table of one figure, or two, for each contender and size, without faults.
func bySize(list []measured, title string, load float64, cell func(*measured) string) report.Table {
	t := report.Table{Title: title, Header: []string{"protocol"}}
	for _, n := range sizes() {
		t.Header = append(t.Header, fmt.Sprintf("N = %d", n))
	}
	for _, c := range contenders() {
		row := []string{c.name}
		for _, n := range sizes() {
			row = append(row, cell(one(list, c.name, n, load, noFault)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// underFault returns all figures of the fleets of one size, at capacity and at twice of it.
func underFault(list []measured, f fault) report.Table {
	t := report.Table{
		Title: fmt.Sprintf("N = %d, %s; at capacity, and at twice of it", disturbed, f),
		Header: []string{
			"protocol", "busy, %", "two at once, %", "p50, s", "p99, s", "datagrams a run", "Jain's index",
			"longest recovery, s",
			"2×: busy, %", "two at once, %", "p50, s", "p99, s", "datagrams a run", "Jain's index",
			"longest recovery, s",
		},
	}
	for _, c := range contenders() {
		row := []string{c.name}
		for _, load := range []float64{1, 2} {
			m := one(list, c.name, disturbed, load, f)
			row = append(row, number(100*m.busy), number(100*m.overlap), number(m.p50), number(m.p99),
				number(m.messages), number(m.fairness), number(m.recovery))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// number formats a number with three digits.
func number(v float64) string {
	if v == 0 || math.IsNaN(v) {
		return report.Number(v)
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return report.Number(math.Round(v/unit) * unit)
}

// curves draws one figure over the sizes, without faults.
func curves(list []measured, load float64, title, unit string, of func(*measured) float64) report.Chart {
	l := report.Chart{Title: title, X: "members", Y: unit, Logarithmic: true}
	for _, n := range sizes() {
		l.Labels = append(l.Labels, strconv.Itoa(n))
	}
	for _, c := range contenders() {
		curve := report.Curve{Name: c.name}
		for i, n := range sizes() {
			curve.X, curve.Y = append(curve.X, float64(i)), append(curve.Y, of(one(list, c.name, n, load, noFault)))
		}
		l.Curves = append(l.Curves, curve)
	}
	return l
}

// points returns all figures of all courses, one figure in each row.
func points(list []measured) []report.Comparison {
	var all []report.Comparison
	for i := range list {
		m := &list[i]
		if m.load == idle {
			continue
		}
		all = append(all, report.Comparison{
			Title: fmt.Sprintf("%s, N = %d, load %s, %s", m.contender.name, m.members, report.Number(m.load), m.fault),
			What:  "figure",
			Rows: []report.Compared{
				report.Measured("busy share", m.busy), report.Measured("share with two at once", m.overlap),
				report.Measured("obtaining time p50, s", m.p50), report.Measured("obtaining time p99, s", m.p99),
				report.Measured("datagrams a run", m.messages), report.Measured("Jain's index", m.fairness),
				report.Measured("longest recovery, s", m.recovery),
			},
		})
	}
	return all
}
