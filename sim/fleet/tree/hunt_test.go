package tree

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

func TestNoSeedBreaksARule(t *testing.T) {
	regenerated, falsely, served := 0, 0, 0
	seeds := mutant.Seeds(500)
	for _, seed := range seeds {
		s := Draw(seed)
		f, err := Explore(s)
		if err != nil {
			t.Fatalf("seed %d: %v; %+v", seed, err, s)
		}
		regenerated, falsely, served = regenerated+f.Regenerated, falsely+f.FalselyRegenerated, served+len(f.Obtaining)
	}
	t.Logf("%d sections, %d regenerations, %d of them false, all on links that lose messages", served, regenerated,
		falsely)
	if len(seeds) > 100 && (regenerated == 0 || served == 0) {
		t.Error("nothing was explored")
	}
}

// The same seed gives the same run.
func TestARunDependsOnItsSeedOnly(t *testing.T) {
	for seed := range uint64(20) {
		once, err := Explore(Draw(seed + 1))
		if err != nil {
			t.Fatal(err)
		}
		again, err := Explore(Draw(seed + 1))
		if err != nil {
			t.Fatal(err)
		}
		if once.Steps != again.Steps || once.Mean() != again.Mean() || once.Sent != again.Sent {
			t.Errorf("seed %d: %+v and %+v", seed+1, once, again)
		}
	}
}
