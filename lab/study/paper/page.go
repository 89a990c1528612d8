package paper

import (
	_ "embed"

	"github.com/wanderd/wanderd/lab/study"
)

//go:embed page.md.tmpl
var text string

// Page returns all experiments, in the order of the paper.
func Page() study.Page {
	return study.Written("paper", text, randomAccess(), wanderStable(), wanderIntervals(), wanderLoss(), wanderBurst(),
		wanderBackbone(), wanderVariants())
}
