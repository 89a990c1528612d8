package siblings

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy/kcopies/survival"
	"github.com/wanderd/wanderd/sim/report"
)

// ringWk is section 4 of k-copies. Nothing runs: the numbers are exact.
func ringWk() study.Experiment {
	figures := figuresFive()
	var cases []ringCase
	for i := range figures {
		for _, n := range ringSizes() {
			cases = append(cases, ringCase{&figures[i], n})
		}
	}
	return study.Surveyed("ring-wk", cases, func(*ringCase, study.Options) int {
		return 1
	}, runWk, func(runs [][]ringCurve) study.Result {
		return answerWk(slices.Concat(runs...))
	})
}

// figureFive is figure 5(a) or 5(b).
type figureFive struct {
	letter string
	// percent is how many of a hundred members crash.
	percent int
	// last is the greatest k that is shown. measured are the k with which rings are run.
	last     int
	measured []int
	// threshold is the "resilience threshold" of ten thousand members.
	threshold int
	// targets are the least probabilities of survival. With the first, the published threshold is the least k. The
	// second is the default of "wanderd plan backups".
	targets [2]*big.Rat
}

// figuresFive are "Figures 5(a) and 5(b)", "for 10% and 50% of nodes that crash respectively": "the threshold for a
// system composed of 10000 nodes is k = 8"; "10000 it is just necessary to have k = 20 in order to tolerate, with a
// probability closer to 100%, 50% of the nodes that crash" (section 4).
func figuresFive() []figureFive {
	usual := big.NewRat(999, 1000)
	return []figureFive{
		{
			letter: "a", percent: 10, last: 12, measured: []int{0, 1, 2, 3, 4, 6, 8}, threshold: 8,
			targets: [2]*big.Rat{big.NewRat(99_999, 100_000), usual},
		},
		{
			letter: "b", percent: 50, last: 30, measured: []int{3, 4, 6, 8, 10, 12, 15, 20}, threshold: 20,
			targets: [2]*big.Rat{big.NewRat(997, 1000), usual},
		},
	}
}

// ringSizes returns the sizes of figure 5, "queues with 50, 500, 1000, 5000 and 10000 nodes".
func ringSizes() []int { return []int{50, 500, 1000, 5000, published} }

// published is the size of the rings whose thresholds are in the paper's text.
const published = 10_000

// ringCase is one curve of a figure.
type ringCase struct {
	figure  *figureFive
	members int
}

// ringCurve is the result of such a case.
type ringCurve struct {
	ringCase
	// survives, eventually and atOnce have a probability for each k from 0.
	survives, eventually, atOnce []float64
	// least is the least k for each target of the figure.
	least [2]int
}

func runWk(_ context.Context, c *ringCase, _ uint64) (ringCurve, error) {
	out := ringCurve{ringCase: *c}
	ring, err := survival.NewRing(c.members, c.crashed())
	if err != nil {
		return out, err
	}
	for k := range c.figure.last + 1 {
		out.survives = append(out.survives, nearest(ring.Survives(k)))
		out.eventually = append(out.eventually, nearest(ring.LostEventually(k)))
		out.atOnce = append(out.atOnce, nearest(ring.LostAtOnce(k)))
	}
	for i, target := range c.figure.targets {
		out.least[i] = ring.Least(target)
	}
	return out, nil
}

// nearest returns the number nearest to a fraction.
func nearest(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

func (f *figureFive) crash() string { return fmt.Sprintf("%d %% crash", f.percent) }
func (c *ringCase) name() string    { return fmt.Sprintf("N = %d", c.members) }

func answerWk(curves []ringCurve) study.Result {
	var least []study.Figures
	for i := range curves {
		if c := &curves[i]; c.members == published {
			k := c.figure.threshold
			least = append(least, study.Figures{
				"percent": c.figure.percent, "members": c.members, "k": k, "above": c.survives[k-1],
				"upTo": c.survives[k],
			})
		}
	}
	r := study.Result{
		Comparisons: []report.Comparison{thresholds(curves)},
		Figures:     study.Figures{"thresholds": least, "losses": twoLosses()},
	}
	check, table, points := figureFour()
	r.Tables, r.Points = []report.Table{check, table}, []report.Comparison{points}
	for _, own := range study.Grouped(curves, func(c *ringCurve) *figureFive { return c.figure }) {
		f := own[0].figure
		r.Tables = append(r.Tables, f.table(own), f.losses(own))
		r.Points = append(r.Points, f.points(own)...)
		r.Plots = append(r.Plots, f.plots(own)...)
	}
	return r
}

// thresholds compares the two thresholds that are in the text.
func thresholds(curves []ringCurve) report.Comparison {
	t := report.Comparison{
		Title: fmt.Sprintf("Figure 5: the least k for %d members", published), What: "crashed, target",
	}
	for i := range curves {
		c := &curves[i]
		if c.members != published {
			continue
		}
		for j, target := range c.figure.targets {
			label := fmt.Sprintf("%d %%, %v", c.figure.percent, nearest(target))
			t.Rows = append(t.Rows, report.Exact(label, float64(c.figure.threshold), float64(c.least[j])))
		}
	}
	return t
}

// twoLosses shows the difference between the two ways to lose a token by an example.
func twoLosses() study.Figures {
	const members, crashed, k = 100, 50, 8
	ring, err := survival.NewRing(members, crashed)
	if err != nil {
		return nil
	}
	return study.Figures{
		"members": members, "crashed": crashed, "k": k,
		"eventually": nearest(ring.LostEventually(k)), "atOnce": nearest(ring.LostAtOnce(k)),
	}
}

// table is the figure in numbers.
func (f *figureFive) table(curves []ringCurve) report.Table {
	t := report.Table{Title: fmt.Sprintf("Figure 5(%s): P_k, %s", f.letter, f.crash()), Header: []string{"k"}}
	for i := range curves {
		t.Header = append(t.Header, curves[i].name())
	}
	for k := range f.last + 1 {
		row := []string{strconv.Itoa(k)}
		for i := range curves {
			row = append(row, strconv.FormatFloat(curves[i].survives[k], 'f', 7, 64))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// losses returns the two losses with as many copies as the default target needs.
func (f *figureFive) losses(curves []ringCurve) report.Table {
	t := report.Table{
		Title:  fmt.Sprintf("The two losses, %s: the least k for a target of %v", f.crash(), nearest(f.targets[1])),
		Header: []string{"N", "k", "lost eventually", "lost at once"},
	}
	for i := range curves {
		c := &curves[i]
		k := c.least[1]
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(c.members), strconv.Itoa(k), report.Number(c.eventually[k]), report.Number(c.atOnce[k]),
		})
	}
	return t
}

// points returns the numbers of the plots.
func (f *figureFive) points(curves []ringCurve) []report.Comparison {
	all := []report.Comparison{
		{Title: fmt.Sprintf("Figure 5(%s): P_k, %s", f.letter, f.crash())},
		{Title: "Lost eventually, " + f.crash()},
		{Title: "Lost at once, " + f.crash()},
	}
	for i := range curves {
		c := &curves[i]
		for j, values := range [][]float64{c.survives, c.eventually, c.atOnce} {
			for k, p := range values {
				all[j].Rows = append(all[j].Rows, report.Measured(fmt.Sprintf("%s, k = %d", c.name(), k), p))
			}
		}
	}
	for i := range all {
		all[i].What, all[i].Figure = "ring", "probability"
	}
	return all
}

// plots returns the figure, as it is laid out in the paper, and the losses, which differ too much for its scale.
func (f *figureFive) plots(curves []ringCurve) []study.Plot {
	survives := report.Chart{
		Title: fmt.Sprintf("Figure 5(%s): at most k in a row, %s", f.letter, f.crash()), X: "k", Y: "P_k(f, N)",
	}
	losses := report.Chart{Title: "The token is lost, " + f.crash(), X: "k", Y: "probability", Logarithmic: true}
	for i := range curves {
		c := &curves[i]
		survives.Curves = append(survives.Curves, lineOf(c.name(), c.survives))
		if c.members == ringSizes()[0] || c.members == published {
			losses.Curves = append(losses.Curves, lineOf("eventually, "+c.name(), c.eventually),
				lineOf("at once, "+c.name(), c.atOnce))
		}
	}
	return []study.Plot{
		{Name: "ring-wk-5" + f.letter, Chart: survives}, {Name: "ring-wk-losses-5" + f.letter, Chart: losses},
	}
}

// lineOf returns the curve of values for k from 0.
func lineOf(name string, values []float64) report.Curve {
	line := report.Curve{Name: name, Y: values}
	for k := range values {
		line.X = append(line.X, float64(k))
	}
	return line
}
