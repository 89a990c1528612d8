package ring

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Every mutant leaves one rule out, most of them rules that the paper lacks, or breaks it: a change to the text of one
// source file.
func TestEveryMutantIsCaught(t *testing.T) {
	mutant.Load(t, "../../..", "testdata/mutants").EachIsCaught(t)
}
