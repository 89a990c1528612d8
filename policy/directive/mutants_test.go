package directive_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Most known-bad directives are in sim/fleet/wander, where hunts notice them. No simulated operator runs anything by
// hand.
func TestMutantsAreCaught(t *testing.T) { mutant.Load(t, "../..", "testdata/mutants").EachIsCaught(t) }
