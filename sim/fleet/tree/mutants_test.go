package tree

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Every mutant leaves out one rule, is Figure 2 as printed where the print is wrong, or breaks a rule of this package:
// a change to the text of one source file.
func TestEveryMutantIsCaught(t *testing.T) {
	mutant.Load(t, "../../..", "testdata/mutants").EachIsCaught(t)
}
