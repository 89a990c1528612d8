package tree

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Every mutant leaves one rule out, is Figure 2 as printed where that is wrong, or breaks a rule of this package: a
// change to the text of one source file.
func TestEveryMutantIsCaught(t *testing.T) {
	mutant.Load(t, "../../..", "testdata/mutants").EachIsCaught(t)
}
