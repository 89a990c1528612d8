package wander_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Most known-bad soft gates are in sim/fleet/wander, where hunts notice them. Those that ask wrongly before a run are
// noticed by scenarios.
func TestMutantsAreCaught(t *testing.T) { mutant.Load(t, "../..", "testdata/mutants").EachIsCaught(t) }
