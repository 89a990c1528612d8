package siblings

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy/kcopies/survival"
	"github.com/wanderd/wanderd/sim/fleet/kcopies"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// "The experiment consisted of processing 500 transactions. It started with 20 TMs; then 10 TMs fail upon receiving
// their 5th transaction […] such as it did no more than 5 consecutive failures" (section 3.4).
const (
	transpeerRouters      = 20
	transpeerTransactions = 500
	transpeerK            = 5
	transpeerFailing      = 10
	transpeerFailAt       = 5
)

// These values are not published, so they are ours: the frequency that is 1, how long a message and a transaction take,
// and how long a crash goes unnoticed. The first three put the load at which the directory is full at seven times the
// first one.
const (
	transpeerBase    = 105 * time.Millisecond
	transpeerLatency = 5 * time.Millisecond
	transpeerService = 5 * time.Millisecond
	transpeerDetect  = 100 * time.Millisecond
)

// transpeerCase is one point of one curve of figure 3.
type transpeerCase struct {
	frequency float64
	// directory is true for the original Transpeer. Otherwise faults is true if routers fail.
	directory, faults bool
}

func (c *transpeerCase) every() time.Duration {
	return time.Duration(float64(transpeerBase) / c.frequency)
}

// transpeerRun is the result of one run.
type transpeerRun struct {
	mean, longest time.Duration
	lost, again   int
}

// ringTranspeer is figure 3 of k-copies.
func ringTranspeer() study.Experiment {
	var cases []transpeerCase
	for _, f := range transpeerFrequencies() {
		cases = append(cases, transpeerCase{f, true, false}, transpeerCase{f, false, false},
			transpeerCase{f, false, true})
	}
	count := func(c *transpeerCase, o study.Options) int {
		if c.faults {
			return o.SeedsOr(20)
		}
		return 1
	}
	return study.Surveyed("ring-transpeer", cases, count, runTranspeer, func(runs [][]transpeerRun) study.Result {
		return answerTranspeer(cases, runs)
	})
}

// transpeerFrequencies returns the relative request frequencies: the axis of figure 3.
func transpeerFrequencies() []float64 { return []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10} }

func runTranspeer(ctx context.Context, c *transpeerCase, seed uint64) (transpeerRun, error) {
	if c.directory {
		return c.locked(), nil
	}
	load := kcopies.Load{
		Transactions: transpeerTransactions, Every: c.every(), Service: transpeerService, FailAt: transpeerFailAt,
	}
	if c.faults {
		load.Fail = failing(seed)
	}
	w := kcopies.World{
		Seed: seed, Members: transpeerRouters, K: transpeerK, Latency: transpeerLatency, Detect: transpeerDetect,
		Duration: 2 * time.Minute,
	}
	a, err := w.Transpeer(ctx, load)
	run := transpeerRun{lost: transpeerTransactions - a.History, again: a.Again}
	for _, took := range a.Took {
		run.mean += took / transpeerTransactions
		run.longest = max(run.longest, took)
	}
	return run, err
}

// locked is the original Transpeer: each transaction asks the directory's node for its dataset's lock. Others wait for
// that lock until the transaction is over and has reported so.
func (c *transpeerCase) locked() (run transpeerRun) {
	const held = transpeerService + 2*transpeerLatency
	var free time.Duration
	for i := range transpeerTransactions {
		submitted := time.Duration(i+1) * c.every()
		asked := submitted + transpeerLatency // from the client to its router
		granted := max(asked+transpeerLatency, free)
		free = granted + held
		// The lock goes to the router and back; in between the transaction is performed. Then the router answers.
		took := granted + transpeerLatency + transpeerService + transpeerLatency - submitted
		run.mean += took / transpeerTransactions
		run.longest = max(run.longest, took)
	}
	return run
}

// failing draws the routers that fail, with no more than k in a row.
func failing(seed uint64) []int {
	dice := rand.New(rand.NewPCG(seed, 3))
	for {
		who, crashed := dice.Perm(transpeerRouters)[:transpeerFailing], uint64(0)
		for _, i := range who {
			crashed |= 1 << i
		}
		if survival.LongestRow(crashed, transpeerRouters) <= transpeerK {
			return who
		}
	}
}

func answerTranspeer(cases []transpeerCase, runs [][]transpeerRun) study.Result {
	table := report.Table{
		Title: "Figure 3: response time, ms",
		Header: []string{
			"request frequency", "directory, mean", "longest", "token, mean", "longest",
			"token with faults, mean", "longest",
		},
	}
	curves := []report.Curve{
		{Name: "original Transpeer without fault"},
		{Name: "TranspeerToken without fault"},
		{Name: "TranspeerToken with 50 % faults"},
	}
	var overhead, longestOverhead []measure.Number
	lost, again, all := 0, 0, 0
	// fasterFrom is the point from which on each of the three is faster than the directory.
	fasterFrom := [3]float64{math.NaN(), math.NaN(), math.NaN()}
	for i := 0; i+2 < len(cases); i += 3 {
		row := []string{report.Number(cases[i].frequency)}
		var means, longests [3]float64
		for j := range 3 {
			c := &cases[i+j]
			mean := measure.EstimateBy(runs[i+j], func(r *transpeerRun) float64 { return float64(r.mean) / 1e6 })
			longest := measure.EstimateBy(runs[i+j], func(r *transpeerRun) float64 { return float64(r.longest) / 1e6 })
			means[j], longests[j] = float64(mean.Mean), float64(longest.Mean)
			row = append(row, report.Number(means[j]), report.Number(longests[j]))
			curve := &curves[j]
			curve.X, curve.Y = append(curve.X, c.frequency), append(curve.Y, means[j])
			if math.IsNaN(fasterFrom[j]) && means[j] < means[0] {
				fasterFrom[j] = c.frequency
			}
			for _, r := range runs[i+j] {
				if !c.directory {
					lost, again, all = lost+r.lost, again+r.again, all+1
				}
			}
		}
		table.Rows = append(table.Rows, row)
		overhead = append(overhead, measure.Number(100*(means[2]/means[1]-1)))
		longestOverhead = append(longestOverhead, measure.Number(100*(longests[2]/longests[1]-1)))
	}
	e, l := measure.EstimateOf(overhead...), measure.EstimateOf(longestOverhead...)
	chart := report.Chart{
		Title: "Figure 3: fault tolerance overhead", X: "relative request frequency", Y: "average response time, ms",
		Curves: curves,
	}
	return study.Result{
		Comparisons: []report.Comparison{{
			Title: "Figure 3, and what the text says of it", What: "TranspeerToken", Figure: "number",
			Rows: []report.Compared{
				report.Exact("transactions lost", 0, float64(lost)),
				{
					Label: "overhead of 50 % faults on the average response time, in %", Published: 40,
					Measured: float64(e.Mean), Half: float64(e.Half),
				},
				{
					Label: "the same on the longest", Published: math.NaN(), Measured: float64(l.Mean),
					Half: float64(l.Half),
				},
				report.Exact("least frequency at which it is faster than the directory, with faults", 8, fasterFrom[2]),
				report.Measured("the same without fault", fasterFrom[1]),
			},
		}},
		Tables: []report.Table{table},
		Plots:  []study.Plot{{Name: "ring-transpeer", Chart: chart}},
		Figures: study.Figures{
			"lost": lost, "runs": all, "fasterFrom": fasterFrom[2], "again": again,
			"transactions": all * transpeerTransactions,
			"base":         transpeerBase, "latency": transpeerLatency, "service": transpeerService,
			"detect": transpeerDetect,
		},
	}
}
