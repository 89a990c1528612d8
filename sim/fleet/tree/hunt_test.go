package tree

import "testing"

// explored is how many seeds are explored in every test run.
const explored = 600

func TestNoSeedBreaksARule(t *testing.T) {
	regenerated, falsely, served := 0, 0, 0
	for seed := range uint64(explored) {
		s := Draw(seed + 1)
		f, err := Explore(s)
		if err != nil {
			t.Fatalf("seed %d: %v; %+v", seed+1, err, s)
		}
		regenerated, falsely, served = regenerated+f.Regenerated, falsely+f.FalselyRegenerated, served+len(f.Obtaining)
	}
	t.Logf("%d sections, %d regenerations, %d of them false", served, regenerated, falsely)
	if regenerated == 0 || served == 0 {
		t.Error("nothing was explored")
	}
}
