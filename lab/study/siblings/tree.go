package siblings

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim"
	fleet "github.com/wanderd/wanderd/sim/fleet/tree"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// The parameters of section 5.1 that are published: "N = 80 nodes", "each application process […] executes 5 critical
// sections", "each experiment was executed 20 times", "PassT = 11.85s", "InterT = 3.95s", "AggrT = 0.32s",
// "ReconnectionTimer is set to 10 ∗ MPing", where PassT = N ∗ MPing.
const (
	treeSites        = 80
	treeSections     = 5
	treeRuns         = 20
	passT            = 11_850 * time.Millisecond
	interT           = 3_950 * time.Millisecond
	aggrT            = 320 * time.Millisecond
	treeMPing        = 148 * time.Millisecond
	treeReconnection = 10 * treeMPing
)

// The parameters that are not published, and are ours. A section and a message's way that take 0.105 s together
// reproduce the 56,000 messages of figure 4(d).
const (
	treeSection = 80 * time.Millisecond
	treeLatency = 25_300 * time.Microsecond
	// treeCrashWithin bounds the moment at which the sites crash, which is drawn evenly. A run takes 35 s to 80 s.
	treeCrashWithin = 20 * time.Second
	// treeLimit is the time after which a run counts as stuck.
	treeLimit = time.Hour
)

// treeCrashes returns the abscissas of all figures. The text of section 5.1 has others: "1, 3, 5, 8, 20, or 40".
func treeCrashes() []int { return []int{0, 1, 2, 3, 5, 10, 20, 40} }

// treeCase is one point of a curve.
type treeCase struct {
	// panel is the column of a figure. curve is the name of the curve.
	panel, curve string
	recovery     tree.Recovery
	backups      int
	rho          float64
	timer        time.Duration
	crashes      int
	// holder is true if the token's holder crashes, too.
	holder bool
}

func runTree(_ context.Context, c *treeCase, seed uint64) (fleet.Figures, error) {
	f, err := fleet.NewWorld(fleet.Scenario{
		Seed: seed, Members: treeSites, Backups: c.backups, Recovery: c.recovery,
		Timers:  tree.Timers{Commit: c.timer, Token: c.timer, Reconnection: treeReconnection, Liveness: treeMPing},
		Network: sim.Network{Latency: treeLatency},
		Section: treeSection, Between: time.Duration(c.rho * float64(treeSection)), Sections: treeSections,
		Crashes: c.crashes, CrashWithin: treeCrashWithin, CrashHolder: c.holder, Limit: treeLimit,
	}).Run()
	if err != nil {
		return fleet.Figures{}, err
	}
	return *f, nil
}

// treePoint has the results of all runs of a case.
type treePoint struct {
	*treeCase
	sent, received, obtaining measure.Estimate
	// runs is the number of runs. stuck, regenerated and falsely are sums over them.
	runs, stuck, regenerated, falsely int
}

func (p *treePoint) name() string { return fmt.Sprintf("%s, %d", p.curve, p.crashes) }

func treePoints(cases []treeCase, runs [][]fleet.Figures) []treePoint {
	points := make([]treePoint, len(cases))
	for i, of := range runs {
		p := treePoint{
			treeCase: &cases[i], runs: len(of),
			sent:      measure.EstimateBy(of, func(f *fleet.Figures) float64 { return float64(f.Sent) }),
			received:  measure.EstimateBy(of, func(f *fleet.Figures) float64 { return float64(f.Received) }),
			obtaining: measure.EstimateBy(of, func(f *fleet.Figures) float64 { return f.Mean().Seconds() }),
		}
		for _, f := range of {
			p.regenerated += f.Regenerated
			p.falsely += f.FalselyRegenerated
			if f.Stuck {
				p.stuck++
			}
		}
		points[i] = p
	}
	return points
}

// treeExperiment returns an experiment with such cases, panel by panel and curve by curve, together with the figure of
// the paper that it repeats.
func treeExperiment(name, figure string, cases []treeCase, texts ...treeText) study.Experiment {
	return study.Surveyed(name, cases, study.Usually[treeCase](treeRuns), runTree,
		func(runs [][]fleet.Figures) study.Result {
			points := treePoints(cases, runs)
			r := study.Result{Figures: treeFigures(points)}
			for i := range texts {
				r.Comparisons = append(r.Comparisons, texts[i].beside(points))
			}
			panels := study.Grouped(points, func(p *treePoint) string { return p.panel })
			for _, panel := range panels {
				r.Tables = append(r.Tables, treeTable(figure, panel))
			}
			drawn := slices.DeleteFunc(slices.Clone(panels), func(panel []treePoint) bool { return panel[0].holder })
			for i, q := range treeQuantities() {
				for j, panel := range drawn {
					letter := string(rune('a' + i*len(drawn) + j))
					title := fmt.Sprintf("Figure %s(%s): %s, %s", figure, letter, q.name, panel[0].panel)
					r.Plots = append(r.Plots, study.Plot{
						Name: fmt.Sprintf("%s-%s%s", name, figure, letter), Chart: treeChart(title, &q, panel),
					})
					r.Points = append(r.Points, treeRows(title, &q, panel))
				}
			}
			stuck := treeQuantity{name: "runs", of: func(p *treePoint) measure.Estimate { return treeSum(p.stuck) }}
			falsely := treeQuantity{name: "runs", of: func(p *treePoint) measure.Estimate { return treeSum(p.falsely) }}
			for _, panel := range panels {
				of := panel[0].panel
				r.Points = append(r.Points, treeRows("Stuck runs, "+of, &stuck, panel),
					treeRows("False regenerations, "+of, &falsely, panel))
			}
			return r
		})
}

// treeFigures returns the sums over all runs, and those parameters that are ours.
func treeFigures(points []treePoint) study.Figures {
	runs, stuck, regenerated, falsely := 0, 0, 0, 0
	for i := range points {
		p := &points[i]
		runs, stuck, regenerated, falsely = runs+p.runs, stuck+p.stuck, regenerated+p.regenerated, falsely+p.falsely
	}
	return study.Figures{
		"runs": runs, "stuck": stuck, "regenerated": regenerated, "falsely": falsely, "section": treeSection,
		"latency":     treeLatency,
		"crashWithin": treeCrashWithin, "ping": treeMPing, "reconnection": treeReconnection,
	}
}

// treeQuantity is a row of the figure.
type treeQuantity struct {
	name, unit string
	of         func(*treePoint) measure.Estimate
}

// treeQuantities returns the rows, from top to bottom.
func treeQuantities() []treeQuantity {
	return []treeQuantity{
		{name: "sent messages", of: func(p *treePoint) measure.Estimate { return p.sent }},
		{name: "received messages", of: treeReceived},
		{name: "obtaining time", unit: "s", of: treeObtaining},
	}
}

func treeReceived(p *treePoint) measure.Estimate  { return p.received }
func treeObtaining(p *treePoint) measure.Estimate { return p.obtaining }

// treeTable has all figures of one column of the figure.
func treeTable(figure string, panel []treePoint) report.Table {
	t := report.Table{
		Title: fmt.Sprintf("Figure %s, %s: means of the runs", figure, panel[0].panel),
		Header: []string{
			"algorithm, crashes", "sent", "received", "obtaining, s", "± 95 %", "regenerated", "falsely", "stuck runs",
		},
	}
	for i := range panel {
		p := &panel[i]
		t.Rows = append(t.Rows, []string{
			p.name(), report.Number(math.Round(float64(p.sent.Mean))),
			report.Number(math.Round(float64(p.received.Mean))),
			report.Number(float64(p.obtaining.Mean)), report.Number(float64(p.obtaining.Half)),
			strconv.Itoa(p.regenerated), strconv.Itoa(p.falsely), fmt.Sprintf("%d of %d", p.stuck, p.runs),
		})
	}
	return t
}

// treeChart is one panel, with the numbers of crashes side by side as in the paper.
func treeChart(title string, q *treeQuantity, panel []treePoint) report.Chart {
	chart := report.Chart{
		Title: title, X: "number of simultaneous crashes", Y: strings.TrimSuffix(q.name+", "+q.unit, ", "),
	}
	for _, crashes := range treeCrashes() {
		chart.Labels = append(chart.Labels, strconv.Itoa(crashes))
	}
	for _, curve := range study.Grouped(panel, func(p *treePoint) string { return p.curve }) {
		line := report.Curve{Name: curve[0].curve}
		for i := range curve {
			line.X, line.Y = append(line.X, float64(i)), append(line.Y, float64(q.of(&curve[i]).Mean))
		}
		chart.Curves = append(chart.Curves, line)
	}
	return chart
}

// treeRows returns the numbers of a panel.
func treeRows(title string, q *treeQuantity, panel []treePoint) report.Comparison {
	c := report.Comparison{Title: title, What: "algorithm, crashes", Figure: q.name, Unit: q.unit}
	for i := range panel {
		e := q.of(&panel[i])
		c.Rows = append(c.Rows, report.Compared{
			Label: panel[i].name(), Published: math.NaN(), Measured: float64(e.Mean), Half: float64(e.Half),
		})
	}
	return c
}

// treeSum returns a sum over the runs of a panel. It has no confidence interval; the bar for stuck and false ones is
// zero.
func treeSum(n int) measure.Estimate {
	return measure.Estimate{Mean: measure.Number(n), Half: measure.Number(math.NaN())}
}
