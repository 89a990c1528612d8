package call_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Known-bad variants that a test of one rule notices. Those that hunts notice are in sim/fleet/call.
func TestMutantsAreCaught(t *testing.T) { mutant.Load(t, "../..", "testdata/mutants").EachIsCaught(t) }
