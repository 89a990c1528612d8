package siblings

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy/kcopies/survival"
	"github.com/wanderd/wanderd/sim/fleet/kcopies"
	"github.com/wanderd/wanderd/sim/report"
)

// ringResilience is figure 5 of k-copies, run by machines on a ring, some of which crash.
func ringResilience() study.Experiment {
	figures := figuresFive()
	var cases []resilienceCase
	for i := range figures {
		for _, n := range ringSizes() {
			for _, k := range figures[i].measured {
				cases = append(cases, resilienceCase{ringCase{&figures[i], n}, k})
			}
		}
	}
	count := func(c *resilienceCase, o study.Options) int { return o.SeedsOr(c.seeds()) }
	return study.Surveyed("ring-resilience", cases, count, runResilience, func(runs [][]kcopies.Fate) study.Result {
		return answerResilience(figures, cases, runs)
	})
}

// resilienceCase is one point of figure 5.
type resilienceCase struct {
	ringCase
	k int
}

// The times of a run are ours. No result depends on them, as long as the detector is later than messages.
const (
	resilienceLatency = time.Millisecond
	resilienceDetect  = 5 * time.Millisecond
)

// seeds returns the number of runs. A lap of ten thousand members takes long.
func (c *resilienceCase) seeds() int {
	if c.members > 1000 {
		return 40
	}
	return 400
}

// runResilience lets as many members crash as the figure does.
func runResilience(_ context.Context, c *resilienceCase, seed uint64) (kcopies.Fate, error) {
	dice := rand.New(rand.NewPCG(seed, uint64(c.members)))
	w := kcopies.World{Seed: seed, Members: c.members, K: c.k, Latency: resilienceLatency, Detect: resilienceDetect}
	return w.Walk(dice.Perm(c.members)[:c.crashed()])
}

func (c *ringCase) crashed() int { return c.members * c.figure.percent / 100 }

// theory returns the probabilities that the token is lost at once, and that it is lost at all.
func (c *resilienceCase) theory() (atOnce, lost float64) {
	ring, err := survival.NewRing(c.members, c.crashed())
	if err != nil {
		return 0, 0
	}
	return nearest(ring.LostAtOnce(c.k)), nearest(ring.LostEventually(c.k))
}

func answerResilience(figures []figureFive, cases []resilienceCase, runs [][]kcopies.Fate) study.Result {
	var r study.Result
	beside, all, next := 0, 0, 0
	for i := range figures {
		f := &figures[i]
		survived := report.Comparison{
			Title: fmt.Sprintf("Figure 5(%s): the token survives, %s", f.letter, f.crash()),
			What:  "ring", Figure: "share",
		}
		atOnce := report.Comparison{Title: "Lost at once, " + f.crash(), What: "ring", Figure: "share"}
		eventually := report.Comparison{
			Title: "Lost eventually, and not at once, " + f.crash(), What: "ring", Figure: "share",
		}
		chart := report.Chart{Title: survived.Title, X: "k", Y: "share of runs"}
		for _, n := range ringSizes() {
			ring := ringCase{f, n}
			formula := report.Curve{Name: ring.name() + ", published", Published: true, Mark: report.Dots}
			measured := report.Curve{Name: ring.name()}
			for _, k := range f.measured {
				c, fates := &cases[next], runs[next]
				if next++; len(fates) == 0 {
					continue
				}
				once, lost := c.theory()
				row := func(of kcopies.Fate, published float64) report.Compared {
					row, agrees := besideShare(fmt.Sprintf("%s, k = %d", ring.name(), k), published, ended(fates, of),
						len(fates))
					if all++; agrees {
						beside++
					}
					return row
				}
				survives := row(kcopies.Survives, 1-lost)
				survived.Rows = append(survived.Rows, survives)
				atOnce.Rows = append(atOnce.Rows, row(kcopies.LostAtOnce, once))
				eventually.Rows = append(eventually.Rows, row(kcopies.LostEventually, lost-once))
				formula.X, formula.Y = append(formula.X, float64(k)), append(formula.Y, survives.Published)
				measured.X, measured.Y = append(measured.X, float64(k)), append(measured.Y, survives.Measured)
			}
			if len(formula.X) > 0 {
				chart.Curves = append(chart.Curves, formula, measured)
			}
		}
		r.Comparisons = append(r.Comparisons, survived, atOnce, eventually)
		r.Plots = append(r.Plots, study.Plot{Name: "ring-resilience-5" + f.letter, Chart: chart})
	}
	r.Figures = study.Figures{"agree": beside, "all": all, "latency": resilienceLatency, "detect": resilienceDetect}
	return r
}

// besideShare puts the share of hits beside a published one. Its interval is Wilson's, which is also valid if there are
// no hits or nothing else: it contains the share's probability with 95 %. agrees reports whether it contains the
// published share.
func besideShare(label string, published float64, hits, runs int) (row report.Compared, agrees bool) {
	n, z := float64(runs), 1.96
	p := float64(hits) / n
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	from, to := max(middle-half, 0), min(middle+half, 1)
	return report.Compared{Label: label, Published: published, Measured: p, Half: (to - from) / 2}, from <= published &&
		published <= to
}

// ended returns how many runs ended with the given fate.
func ended(runs []kcopies.Fate, fate kcopies.Fate) int {
	n := 0
	for _, f := range runs {
		if f == fate {
			n++
		}
	}
	return n
}
