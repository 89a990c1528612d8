package handoff_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Most known-bad handoffs are in sim/fleet/wander, where hunts notice them. A mutant that no short hunt has noticed is
// noticed by a scenario.
func TestMutantsAreCaught(t *testing.T) { mutant.Load(t, "../..", "testdata/mutants").EachIsCaught(t) }
