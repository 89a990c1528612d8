package siblings

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// treeBehaviour is section 5.2: "The current experiments analyze both algorithms when applications with different
// levels of parallelism are executed. CommitTimer, TokenTimer, and NT-Timer are set to the intermediate InterT timer
// and the number of predecessors k is fixed to 2."
func treeBehaviour() study.Experiment {
	cases := slices.Concat(
		treePair("ρ = 1", 1, interT, false), treePair("ρ = N", treeSites, interT, false),
		treePair("ρ = 2N", 2*treeSites, interT, false))
	return treeExperiment("tree-behaviour", "4", cases, treeText{
		title: "Section 5.2: received messages without a crash", what: "application, algorithm", of: treeReceived,
		says: []treeSaying{{"ρ = 1", curveBaseline, 56_000}, {"ρ = 2N", curveBaseline, 3_700}},
	})
}

// treeTimeouts is section 5.3: "CommitTimer, TokenTimer and NT-Timer are set to one of these values for each
// experiment. The parallelism level of the application is ρ = N and the number of predecessors is k = 2."
func treeTimeouts() study.Experiment {
	var cases []treeCase
	var texts []treeText
	for _, with := range []string{"", withHolder} {
		few := treeText{
			title: "Section 5.3: obtaining time \"for a small number of faults\" (1, 2, 3 and 5)" + with,
			what:  "timer, algorithm", unit: "s", of: treeObtaining, least: 1, most: 5,
		}
		for _, timer := range []struct {
			name           string
			lasts          time.Duration
			fair, baseline float64
		}{{"PassT", passT, 4, 4}, {"InterT", interT, 2.1, 2.4}, {"AggrT", aggrT, 1.3, 1.8}} {
			panel := timer.name + with
			cases = append(cases, treePair(panel, treeSites, timer.lasts, with != "")...)
			few.says = append(few.says, treeSaying{panel, curveFair, timer.fair},
				treeSaying{panel, curveBaseline, timer.baseline})
		}
		texts = append(texts, few)
	}
	return treeExperiment("tree-timeouts", "5", cases, append(texts, treeText{
		title: "Section 5.3: received messages without a crash", what: "timer, algorithm", of: treeReceived,
		says: []treeSaying{{"AggrT", curveBaseline, 100_000}, {"AggrT", curveFair, 2_000}},
	})...)
}

// treePredecessors is section 5.4: "we set both CommitTimer and TokenTimer to the intermediate InterT timer and we
// considered ρ = 1 i.e, an application with a long next queue".
func treePredecessors() study.Experiment {
	var cases []treeCase
	for _, k := range []int{2, 10, 20} {
		for _, crashes := range treeCrashes() {
			cases = append(cases, treeCase{
				panel: "ρ = 1", curve: fmt.Sprintf("k = %d", k), recovery: tree.Fair, backups: k, rho: 1, timer: interT,
				crashes: crashes,
			})
		}
	}
	return treeExperiment("tree-predecessors", "6", cases)
}

// treeText is what the paper's text says about a quantity in numbers, on average over the given numbers of crashes.
type treeText struct {
	title, what, unit string
	of                func(*treePoint) measure.Estimate
	least, most       int
	says              []treeSaying
}

// treeSaying is the number of one curve.
type treeSaying struct {
	panel, curve string
	published    float64
}

// beside puts the numbers of the text beside the measured ones.
func (t *treeText) beside(points []treePoint) report.Comparison {
	c := report.Comparison{Title: t.title, What: t.what, Unit: t.unit}
	for _, s := range t.says {
		sum, n, half := 0.0, 0, math.NaN()
		for i := range points {
			p := &points[i]
			if p.panel == s.panel && p.curve == s.curve && p.crashes >= t.least && p.crashes <= t.most {
				e := t.of(p)
				sum, half = sum+float64(e.Mean), float64(e.Half)
				n++
			}
		}
		if n != 1 {
			half = math.NaN()
		}
		c.Rows = append(c.Rows, report.Compared{
			Label:     strings.TrimSuffix(s.panel, withHolder) + ", " + s.curve,
			Published: s.published, Measured: sum / float64(n), Half: half,
		})
	}
	return c
}

// withHolder marks the columns that the paper's figures do not have.
const withHolder = ", the holder crashes too"

const (
	curveFair     = "our algorithm, k = 2"
	curveBaseline = "Naimi–Tréhel"
)

// treePair returns the cases of the two algorithms of figures 4 and 5 at all numbers of crashes.
func treePair(panel string, rho float64, timer time.Duration, holder bool) []treeCase {
	var cases []treeCase
	for _, algorithm := range []struct {
		curve    string
		recovery tree.Recovery
	}{{curveBaseline, tree.Baseline}, {curveFair, tree.Fair}} {
		for _, crashes := range treeCrashes() {
			if crashes > 0 || !holder {
				cases = append(cases, treeCase{
					panel: panel, curve: algorithm.curve, recovery: algorithm.recovery, backups: 2, rho: rho,
					timer: timer, crashes: crashes, holder: holder,
				})
			}
		}
	}
	return cases
}
