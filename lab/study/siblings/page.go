package siblings

import (
	_ "embed"

	"github.com/wanderd/wanderd/lab/study"
)

//go:embed page.md.tmpl
var text string

// Page returns all experiments.
func Page() study.Page {
	return study.Written("siblings", text, ringRequests(), ringWk(), ringResilience(), ringTranspeer(), ringBeyond(),
		treeBehaviour(), treeTimeouts(), treePredecessors())
}
