package kcopies_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Every mutant breaks one rule, or is a rule as printed where the print is wrong: a change to the text of one source
// file.
func TestEveryMutantIsCaught(t *testing.T) {
	mutant.Load(t, "../../..", "testdata/mutants").EachIsCaught(t)
}
