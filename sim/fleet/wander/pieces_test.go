package wander

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/wanderd/wanderd/sim"
)

// fifty is how many seeds, from 1 on, draw every piece at least once. docs/mutants.md tells how often.
const fifty = 50

// A short hunt has still explored every piece. A new piece enters this table by itself. A piece that no seed draws
// needs another label; the test names a label that does not change the seeds that notice a mutant.
func TestEachPieceIsDrawnInFiftySeeds(t *testing.T) {
	var v Coverage
	for seed := range uint64(fifty) {
		v.Drew(seed + 1)
	}
	for i, c := range v.Pieces() {
		t.Logf("%2d  %s", c.Times, c.What)
		if p := pieces()[i]; c.Times == 0 {
			t.Errorf("none of %d seeds draws %q, with label %d and a share of %v; label %d would do", fifty, c.What,
				p.label, p.share, free(t, p))
		}
	}
}

// A name stands for one piece, and a label for one sequence of random numbers: pieces with the same numbers would be
// drawn together or not at all.
func TestPiecesHaveNamesAndLabelsOfTheirOwn(t *testing.T) {
	names, labels := map[string]bool{}, map[uint64]string{}
	for _, p := range pieces() {
		if p.name == "" || names[p.name] {
			t.Errorf("%q is no name of one piece", p.name)
		}
		if labels[p.label] != "" {
			t.Errorf("%q and %q have label %d; %d is free", labels[p.label], p.name, p.label, free(t, p))
		}
		names[p.name], labels[p.label] = true, p.name
	}
}

// A piece that makes no difference to a scenario is not drawn. A piece with alone set removes the others.
func TestAPieceIsDrawnWhereItMakesADifference(t *testing.T) {
	for seed := range uint64(2000) {
		s, names := draw(seed)
		has := map[string]bool{}
		for _, name := range names {
			has[name] = true
		}
		for name, is := range map[string]bool{
			"windows": s.Windows != nil, "retries": s.RetryAfter > 0, "runs on demand": s.onDemand(),
			"hosts that are not ready": s.Ready != sim.Ready{}, "members that ask before a run": s.AskBeforeRun,
			"callers beside an operation":               s.Demand.Beside,
			"a restart of all members and nothing else": s.restarts(),
			"one link that stays cut":                   s.Standing == OneLinkCut,
			"one disk that stays slow":                  s.Standing == OneDiskSlow,
		} {
			if has[name] != is {
				t.Errorf("seed %d: %q is drawn: %v, and the scenario has it: %v", seed, name, has[name], is)
			}
		}
	}
}

// free returns a label with which some of fifty seeds draw the piece, but no seed that notices a mutant does.
func free(t *testing.T, p piece) uint64 {
	t.Helper()
	paths, err := filepath.Glob("testdata/mutants/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d mutants: %v", len(paths), err)
	}
	notices := map[uint64]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`(?m)^seed: (\d+)$`).FindSubmatch(text); found != nil {
			seed, err := strconv.ParseUint(string(found[1]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			notices[seed] = true
		}
	}
	used := map[uint64]bool{}
	for _, other := range pieces() {
		used[other.label] = true
	}
	draws := func(seed uint64) bool { return p.dice(seed).Sometimes(p.share) }
search:
	for p.label = 100; ; p.label++ {
		if used[p.label] {
			continue
		}
		for seed := range notices {
			if draws(seed) {
				continue search
			}
		}
		for seed := uint64(1); seed <= fifty; seed++ {
			if draws(seed) {
				return p.label
			}
		}
	}
}
