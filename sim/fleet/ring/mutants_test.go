package ring

import (
	"testing"

	"github.com/wanderd/wanderd/tools/mutant"
)

// Every mutant leaves one rule out, most of them rules that the paper lacks, or breaks it: a change to the text of one source file, made for
// one build.
func TestEveryMutantIsCaught(t *testing.T) { mutant.EachIsCaught(t, "../../..", "testdata/mutants") }
