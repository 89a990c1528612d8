package siblings

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/kcopies/survival"
	"github.com/wanderd/wanderd/sim/report"
)

// A token that goes to the members that have asked for it, in the order in which they have: "algorithms where the token
// circulates only between nodes that have requested it such as in Suzuki and Kasami's mutual exclusion algorithm"
// (section 5). k is that of figure 6; the others are ours.
const (
	beyondMembers = 50
	beyondCrashed = 35
	beyondK       = 6
	beyondMoves   = 200
)

// beyondRule is the rule that decides where the copies go.
type beyondRule string

const (
	bothKinds       beyondRule = "predictable, then monitors"
	onlyPredictable beyondRule = "predictable only"
	onlyMonitors    beyondRule = "monitors only"
)

// beyondCase is a rule under one demand: how many members wait on average.
type beyondCase struct {
	rule    beyondRule
	waiting int
}

// beyondRun is the result of one run.
type beyondRun struct {
	// lost is true if the holder and all members that had a copy crashed at once.
	lost bool
	// copies is how many copies there were besides the token. monitors is how many of the members with a copy were
	// monitors.
	copies, monitors int
}

// ringBeyond is section 5 of k-copies.
func ringBeyond() study.Experiment {
	var cases []beyondCase
	for _, rule := range []beyondRule{bothKinds, onlyPredictable, onlyMonitors} {
		for _, waiting := range []int{1, 3, 10} {
			cases = append(cases, beyondCase{rule, waiting})
		}
	}
	return study.Surveyed("ring-beyond", cases, study.Usually[beyondCase](4000), runBeyond,
		func(runs [][]beyondRun) study.Result {
			return answerBeyond(cases, runs)
		})
}

// runBeyond moves the token many times, and then lets members crash.
func runBeyond(_ context.Context, c *beyondCase, seed uint64) (beyondRun, error) {
	dice := rand.New(rand.NewPCG(seed, 5))
	now, next := copySet{sites: []kcopies.Site{0}, predictable: 1}, copySet{}
	var queue []kcopies.Site
	for range beyondMoves {
		for len(queue) < c.waiting+dice.IntN(2) {
			if s := kcopies.Site(dice.IntN(beyondMembers)); s != now.holder() && !slices.Contains(queue, s) {
				queue = append(queue, s)
			}
		}
		path := queue
		if c.rule == onlyMonitors {
			path = queue[:1]
		}
		nextCopySet(&now, path, beyondK, &next)
		if c.rule == onlyPredictable {
			next.sites = next.sites[:next.predictable]
		}
		now, next = next, now
		queue = queue[1:]
	}
	crashed := make([]bool, beyondMembers)
	for _, i := range dice.Perm(beyondMembers)[:beyondCrashed] {
		crashed[i] = true
	}
	alive := slices.ContainsFunc(now.sites, func(s kcopies.Site) bool { return !crashed[s] })
	return beyondRun{lost: !alive, copies: len(now.sites) - 1, monitors: len(now.sites) - now.predictable}, nil
}

// figureSix returns the sets of figure 6, by the rule: S4 receives the token from S5, and S1, S6 and S8 have asked for
// it.
func figureSix() report.Table {
	before := copySet{sites: []kcopies.Site{5, 4, 9, 2}, predictable: 2}
	var t copySet
	nextCopySet(&before, []kcopies.Site{4, 1, 6, 8}, beyondK, &t)
	table := report.Table{
		Title:  "Figure 6(c): the detection sets of T, k = 6",
		Header: []string{"member", "kind", "monitors", "published"},
	}
	published := map[kcopies.Site]string{8: "S6 S1 S4", 5: "S4 S1 S6 S8"}
	for i, s := range t.sites {
		kind := "predictable"
		switch {
		case i == 0:
			kind = "holder"
		case t.isMonitor(s):
			kind = "monitor"
		}
		table.Rows = append(table.Rows, []string{
			fmt.Sprintf("S%d", s), kind, siteNames(t.detectionSet(s)[:i]), cmp.Or(published[s], report.Missing),
		})
	}
	return table
}

func siteNames(sites []kcopies.Site) string {
	names := make([]string, len(sites))
	for i, s := range sites {
		names[i] = fmt.Sprintf("S%d", s)
	}
	return strings.Join(names, " ")
}

func answerBeyond(cases []beyondCase, runs [][]beyondRun) study.Result {
	theory := math.NaN()
	if ring, err := survival.NewRing(beyondMembers, beyondCrashed); err == nil {
		theory = nearest(ring.LostAtOnce(beyondK))
	}
	comparison := report.Comparison{
		Title: fmt.Sprintf("Lost at once: %d of %d members crash, k = %d", beyondCrashed, beyondMembers, beyondK),
		What:  "copies go to", Figure: "share",
	}
	table := report.Table{
		Title:  "The set T when they crash",
		Header: []string{"copies go to", "waiting", "copies, mean", "of them at monitors"},
	}
	agrees, full := 0, 0
	for i, c := range cases {
		n := len(runs[i])
		if n == 0 {
			continue
		}
		hits, copies, monitors := 0, 0, 0
		for _, r := range runs[i] {
			if r.lost {
				hits++
			}
			copies, monitors = copies+r.copies, monitors+r.monitors
		}
		published := theory
		if c.rule == onlyPredictable {
			published = math.NaN()
		} else {
			full++
		}
		row, agreed := besideShare(fmt.Sprintf("%s, %d waiting", c.rule, c.waiting), published, hits, n)
		if agreed {
			agrees++
		}
		comparison.Rows = append(comparison.Rows, row)
		table.Rows = append(table.Rows, []string{
			string(c.rule), fmt.Sprint(c.waiting), report.Number(float64(copies) / float64(n)),
			report.Number(float64(monitors) / float64(n)),
		})
	}
	return study.Result{
		Comparisons: []report.Comparison{comparison},
		Tables:      []report.Table{figureSix(), table},
		Plots:       []study.Plot{{Name: "ring-beyond", Chart: comparison.Chart(true)}},
		Figures:     study.Figures{"agree": agrees, "full": full, "members": beyondMembers, "moves": beyondMoves},
	}
}
