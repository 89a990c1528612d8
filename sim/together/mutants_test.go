package together

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Known-bad ways to hold several gates.
func TestMutantsAreCaught(t *testing.T) { mutant.Load(t, "../..", "testdata/mutants").EachIsCaught(t) }
