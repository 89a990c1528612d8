package siblings

import (
	"math"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/study"
	fleet "github.com/wanderd/wanderd/sim/fleet/tree"
)

// pointsOf runs some cases with a few seeds.
func pointsOf(t *testing.T, seeds int, cases []treeCase) []treePoint {
	t.Helper()
	runs := make([][]fleet.Figures, len(cases))
	for i := range cases {
		for seed := range seeds {
			r, err := runTree(t.Context(), &cases[i], uint64(seed+1))
			if err != nil {
				t.Fatal(err)
			}
			runs[i] = append(runs[i], r)
		}
	}
	return treePoints(cases, runs)
}

// No run may hang, and no token may be made while there is one.
func TestNoRunOfATreeIsStuck(t *testing.T) {
	for _, e := range Page().Experiments {
		if !strings.HasPrefix(e.Name, "tree-") {
			continue
		}
		r, err := e.Run(t.Context(), study.Options{Seeds: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(r.Verdict, "0 of ") || !strings.Contains(r.Verdict, " runs stuck; 0 of ") {
			t.Errorf("%s: %s", e.Name, r.Verdict)
		}
	}
}

// "However, when ρ = 1, this number goes up to 56,000 messages" (section 5.2). The fair algorithm "does not present
// such huge variation".
func TestTheBaselineBroadcastsWhileNobodyCrashes(t *testing.T) {
	points := pointsOf(t, 3, treePair("ρ = 1", 1, interT, false))
	for i := range points {
		p := &points[i]
		if p.crashes > 0 {
			continue
		}
		want := map[string]float64{curveBaseline: 56_000, curveFair: 3_300}[p.curve]
		if got := float64(p.received.Mean); math.Abs(got-want) > want/50 {
			t.Errorf("%s: %v messages, want %v", p.curve, got, want)
		}
	}
}

// "The only exception is for 50% crashes when ρ = 1": the baseline is faster there, and slower with one crash (section
// 5.2).
func TestTheBaselineIsFasterWhereHalfOfTheSitesCrash(t *testing.T) {
	deep.Only(t, "measures days of fleets")
	points := pointsOf(t, treeRuns, treePair("ρ = 1", 1, interT, false))
	times := map[int]map[string]float64{1: {}, 40: {}}
	for i := range points {
		if p := &points[i]; times[p.crashes] != nil {
			times[p.crashes][p.curve] = float64(p.obtaining.Mean)
		}
	}
	if times[40][curveBaseline] >= times[40][curveFair] || times[1][curveBaseline] <= times[1][curveFair] {
		t.Errorf("%v", times)
	}
}

// "k has no impact on our algorithm in failure-free runs"; "greater values of k reduce the number of SEARCH_POS
// broadcasts" (section 5.4).
func TestMorePredecessorsMeanFewerBroadcasts(t *testing.T) {
	deep.Only(t, "measures days of fleets")
	var cases []treeCase
	for _, k := range []int{2, 10, 20} {
		for _, crashes := range []int{0, 40} {
			cases = append(cases, treeCase{backups: k, rho: 1, timer: interT, crashes: crashes})
		}
	}
	points := pointsOf(t, treeRuns, cases)
	if points[0].received != points[2].received || points[0].received != points[4].received {
		t.Errorf("without a crash: %v, %v, %v", points[0].received, points[2].received, points[4].received)
	}
	if points[1].received.Mean <= points[3].received.Mean {
		t.Errorf("half of the sites crash: %v messages with k = 2, %v with k = 10", points[1].received.Mean,
			points[3].received.Mean)
	}
}

func TestAPanelHasAPointForEveryNumberOfCrashes(t *testing.T) {
	r, err := treePredecessors().Run(t.Context(), study.Options{Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Plots) != 3 || len(r.Points) != 5 {
		t.Errorf("%d plots and %d lists of points, want 3, 5", len(r.Plots), len(r.Points))
	}
	for _, c := range r.Points {
		if len(c.Rows) != 3*len(treeCrashes()) {
			t.Errorf("%s has %d rows", c.Title, len(c.Rows))
		}
	}
}
