package call

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// Every mutant leaves out one rule.
func TestEveryMutantIsCaught(t *testing.T) {
	mutant.Load(t, "../../..", "testdata/mutants").EachIsCaught(t)
}
