package strict_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Most known-bad strict gates are in policy/ballot, where hunts notice them. What no hunt has noticed, a story does.
func TestMutantsAreCaught(t *testing.T) { mutant.Load(t, "../..", "testdata/mutants").EachIsCaught(t) }
