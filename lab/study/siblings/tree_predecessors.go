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
	return treeExperiment(study.Experiment{
		Name: "tree-predecessors", Title: "How many predecessors a site knows", Source: "fair tree, section 5.4, figure 6",
		Shows: "The same as figure 4, at ρ = 1, for k = 2, 10 and 20 predecessors in a COMMIT.",
	}, "6", cases, func([]treePoint) []report.Comparison { return nil },
		"Section 5.4 has no numbers. Its statements are confirmed: \"k has no impact on our algorithm in failure-free runs\"; more predecessors mean "+
			"fewer SEARCH_POS broadcasts, and so fewer received messages, when many sites crash.")
}
