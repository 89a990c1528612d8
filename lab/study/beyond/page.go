package beyond

import (
	_ "embed"

	"github.com/wanderd/wanderd/lab/study"
)

//go:embed page.md.tmpl
var text string

// Page returns all experiments. The network is parted before its links are broken.
func Page() study.Page {
	var all []study.Experiment
	for _, s := range surveys() {
		if s.name == "beyond-links" {
			all = append(all, parted())
		}
		all = append(all, s.experiment())
	}
	return study.Written("beyond", text, all...)
}
