package agent

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// The shell's part of grants that outlive their hosts, and what it does by itself: soak, stages, max_down, events. Here
// the variants must fit the code; "make mutants" runs them, because agents in virtual time take minutes.
func TestMutantsAreCaught(t *testing.T) {
	if set := mutant.Load(t, "..", "testdata/mutants"); mutant.Hunting() {
		set.EachIsCaught(t)
	}
}
