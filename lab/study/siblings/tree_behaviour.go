package siblings

import (
	"slices"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// treeBehaviour is section 5.2: "The current experiments analyze both algorithms when applications with different levels of parallelism are
// executed. CommitTimer, TokenTimer, and NT-Timer are set to the intermediate InterT timer and the number of predecessors k is fixed to 2."
func treeBehaviour() study.Experiment {
	cases := slices.Concat(
		treePair("ρ = 1", 1, interT, false), treePair("ρ = N", treeSites, interT, false), treePair("ρ = 2N", 2*treeSites, interT, false))
	return treeExperiment("tree-behaviour", "4", cases, func(points []treePoint) []report.Comparison {
		at := func(panel, curve string, crashes int) func(*treePoint) bool {
			return func(p *treePoint) bool { return p.panel == panel && p.curve == curve && p.crashes == crashes }
		}
		received := func(p *treePoint) measure.Estimate { return p.received }
		return []report.Comparison{{
			Title: "Section 5.2: received messages without a crash", What: "application, algorithm",
			Rows: []report.Compared{
				treePublished("ρ = 1, "+curveBaseline, 56_000, received, points, at("ρ = 1", curveBaseline, 0)),
				treePublished("ρ = 2N, "+curveBaseline, 3_700, received, points, at("ρ = 2N", curveBaseline, 0)),
			},
		}}
	})
}
