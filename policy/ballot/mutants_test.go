package ballot_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// TestMutantsAreCaught keeps the checkers honest: each file in testdata/mutants breaks one rule, and a hunt must
// notice, in each of the gates that the file names with a seed.
func TestMutantsAreCaught(t *testing.T) {
	mutant.Load(t, "../..", "testdata/mutants").EachIsCaught(t)
}
