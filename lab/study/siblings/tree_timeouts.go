package siblings

import (
	"slices"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// treeTimeouts is section 5.3: "CommitTimer, TokenTimer and NT-Timer are set to one of these values for each experiment. The parallelism level
// of the application is ρ = N and the number of predecessors is k = 2."
func treeTimeouts() study.Experiment {
	timers := []string{"PassT", "InterT", "AggrT"}
	cases := slices.Concat(
		treePair("PassT", treeSites, passT, false), treePair("InterT", treeSites, interT, false), treePair("AggrT", treeSites, aggrT, false),
		treePair("PassT"+withHolder, treeSites, passT, true), treePair("InterT"+withHolder, treeSites, interT, true),
		treePair("AggrT"+withHolder, treeSites, aggrT, true))
	return treeExperiment("tree-timeouts", "5", cases, func(points []treePoint) []report.Comparison {
		obtaining := func(p *treePoint) measure.Estimate { return p.obtaining }
		few := func(panel, curve string) func(*treePoint) bool {
			return func(p *treePoint) bool {
				return p.panel == panel && p.curve == curve && p.crashes > 0 && p.crashes <= 5
			}
		}
		published := map[string][2]float64{"PassT": {4, 4}, "InterT": {2.1, 2.4}, "AggrT": {1.3, 1.8}}
		var all []report.Comparison
		for _, with := range []string{"", withHolder} {
			c := report.Comparison{
				Title: "Section 5.3: obtaining time \"for a small number of faults\" (1, 2, 3 and 5)" + with, What: "timer, algorithm", Unit: "s",
			}
			for _, timer := range timers {
				c.Rows = append(c.Rows, treePublished(timer+", "+curveFair, published[timer][0], obtaining, points, few(timer+with, curveFair)),
					treePublished(timer+", "+curveBaseline, published[timer][1], obtaining, points, few(timer+with, curveBaseline)))
			}
			all = append(all, c)
		}
		without := func(curve string) func(*treePoint) bool {
			return func(p *treePoint) bool { return p.panel == "AggrT" && p.curve == curve && p.crashes == 0 }
		}
		received := func(p *treePoint) measure.Estimate { return p.received }
		return append(all, report.Comparison{
			Title: "Section 5.3: received messages without a crash", What: "timer, algorithm",
			Rows: []report.Compared{
				treePublished("AggrT, "+curveBaseline, 100_000, received, points, without(curveBaseline)),
				treePublished("AggrT, "+curveFair, 2_000, received, points, without(curveFair)),
			},
		})
	})
}
