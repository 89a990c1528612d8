package ring

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Every mutant leaves out one rule, or breaks one: a change to the text of one source file. Most of these rules are not
// in the paper.
func TestEveryMutantIsCaught(t *testing.T) {
	mutant.Load(t, "../../..", "testdata/mutants").EachIsCaught(t)
}
