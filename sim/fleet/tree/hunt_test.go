package tree

import (
	"flag"
	"testing"
)

// explored is how many seeds are explored: as many as all mutants need, or more by -seeds.
var explored = flag.Uint64("seeds", 1400, "explore this many seeds")

func TestNoSeedBreaksARule(t *testing.T) {
	regenerated, falsely, served := 0, 0, 0
	for seed := range *explored {
		s := Draw(seed + 1)
		f, err := Explore(s)
		if err != nil {
			t.Fatalf("seed %d: %v; %+v", seed+1, err, s)
		}
		regenerated, falsely, served = regenerated+f.Regenerated, falsely+f.FalselyRegenerated, served+len(f.Obtaining)
	}
	t.Logf("%d sections, %d regenerations, %d of them false, all on links that lose messages", served, regenerated, falsely)
	if regenerated == 0 || served == 0 {
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
