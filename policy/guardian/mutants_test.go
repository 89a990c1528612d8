package guardian_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Most known-bad guardians are in sim/fleet/wander, where hunts notice them. Those whose rule keeps a Byzantine member
// within its bounds are noticed by scenarios.
func TestMutantsAreCaught(t *testing.T) { mutant.Load(t, "../..", "testdata/mutants").EachIsCaught(t) }
