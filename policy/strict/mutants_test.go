package strict_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Most known-bad strict gates are in policy/ballot, where hunts notice them. A mutant that no hunt has noticed is
// noticed by a scenario.
func TestMutantsAreCaught(t *testing.T) { mutant.Load(t, "../..", "testdata/mutants").EachIsCaught(t) }
