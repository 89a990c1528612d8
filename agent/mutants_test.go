package agent

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// The shell's part of grants that outlive their hosts, and what it does by itself: soak, stages, max_down, events.
func TestMutantsAreCaught(t *testing.T) { mutant.Load(t, "..", "testdata/mutants").EachIsCaught(t) }
