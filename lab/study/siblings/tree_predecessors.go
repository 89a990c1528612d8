package siblings

import (
	"fmt"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim/report"
)

// treePredecessors is section 5.4: "we set both CommitTimer and TokenTimer to the intermediate InterT timer and we considered ρ = 1 i.e, an
// application with a long next queue".
func treePredecessors() study.Experiment {
	var cases []treeCase
	for _, k := range []int{2, 10, 20} {
		for _, crashes := range treeCrashes() {
			cases = append(cases, treeCase{
				panel: "ρ = 1", curve: fmt.Sprintf("k = %d", k), recovery: tree.Fair, backups: k, rho: 1, timer: interT, crashes: crashes,
			})
		}
	}
	return treeExperiment("tree-predecessors", "6", cases, func([]treePoint) []report.Comparison { return nil })
}
