package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	calling "github.com/wanderd/wanderd/sim/fleet/call"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/seeds"
)

// OnceRequest is what an operator wants of a gate that runs once for the whole fleet, and what the fleet is like.
// Fields that a [Request] has mean the same, and have the same limits; Every is the interval in which one run is
// enough.
type OnceRequest struct {
	Members   int
	Op, Every time.Duration
	Backups   int
	// FailsEvery is the mean time from one failure of a host to its next one, and DownFor how long it is down on
	// average; zero means that none fails.
	FailsEvery, DownFor time.Duration

	Skip, Latency time.Duration
	Loss          float64
	Seed          uint64
}

func (w *OnceRequest) check() error {
	r := Request{
		Members: w.Members, Op: w.Op, Every: w.Every, Backups: max(w.Backups, 1), Skip: w.Skip, Latency: w.Latency,
		Loss: w.Loss,
	}
	var problems []string
	if of, ok := errors.AsType[*Impossible](r.check()); ok {
		problems = of.Problems
	}
	if w.Backups < 1 {
		problems = append(problems, fmt.Sprintf("backups is %d: a token that is called has 1 to %d homes", w.Backups,
			guardian.MaxBackups))
	}
	if (w.FailsEvery == 0) != (w.DownFor == 0) {
		problems = append(problems, "fails_every and down_for need each other")
	}
	if w.FailsEvery < 0 || w.FailsEvery > longest || w.DownFor < 0 || w.DownFor > longest ||
		w.FailsEvery > 0 && w.FailsEvery < shortestEvery {
		problems = append(problems, fmt.Sprintf("fails_every is %s and down_for is %s: durations from 1s to 365d",
			written(w.FailsEvery), written(w.DownFor)))
	}
	if len(problems) > 0 {
		return &Impossible{Problems: problems}
	}
	return nil
}

func (w *OnceRequest) latency() time.Duration { return cmp.Or(w.Latency, usualLatency) }

// skip returns the skip in force: that of the request, or the agent's default unless that is too short for round trips.
func (w *OnceRequest) skip() time.Duration {
	if w.Skip > 0 {
		return w.Skip
	}
	return max(time.Second, wander.LeastSkip(2*w.latency()))
}

// MarshalJSON writes times in seconds.
func (w OnceRequest) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"members": w.Members, "op_s": w.Op.Seconds(), "every_s": w.Every.Seconds(), "backups": w.Backups,
		"fails_every_s": w.FailsEvery.Seconds(), "down_for_s": w.DownFor.Seconds(), "skip_s": w.skip().Seconds(),
		"latency_s": w.latency().Seconds(), "loss": w.Loss, "seed": w.Seed,
	})
}

// OnceResult describes what a gate will do that runs once for the whole fleet. Times are in seconds.
type OnceResult struct {
	Request OnceRequest `json:"wish"`
	// Expected is with the failures of the request, and Cut if the network is in two halves all the time. Dies is how
	// long after the host of a run has lost its power another one runs.
	Expected OnceForecast `json:"expected"`
	Cut      OnceForecast `json:"in_two_halves"`
	Dies     Quantiles    `json:"after_power_loss_s"`
	// TOML are the constants as part of a configuration file, and Command as flags.
	TOML    string `json:"toml"`
	Command string `json:"command"`
}

// OnceForecast is what was measured of some fleets.
type OnceForecast struct {
	// Intervals is how many intervals there were, and Twice how many runs began in one in which another run had begun
	// before that succeeded.
	Intervals int `json:"intervals"`
	Twice     int `json:"twice"`
	// Late is how long after the end of the last interval a run has begun.
	Late Quantiles `json:"late_s"`
	// PerRun is the number of datagrams for each run.
	PerRun    measure.Number `json:"datagrams_per_run"`
	Simulated Simulated      `json:"simulated"`
}

// The work of a plan for one run in each interval: how long the runs take in all, how many intervals there are at least
// and at most, and in how many fleets.
const (
	onceRuns   = 1000 * time.Minute
	onceLeast  = 20
	onceMost   = 1000
	onceSeeds  = 4
	whatIfPart = 5
)

// intervals is how many intervals are simulated.
func (w *OnceRequest) intervals() int {
	return int(min(max(onceRuns/w.Op, onceLeast), onceMost)) / onceSeeds * onceSeeds
}

// ForOnce answers a request. It simulates the fleet on all cores, with the machines that an agent runs. The error is an
// [*Impossible], or that of ctx.
func ForOnce(ctx context.Context, w OnceRequest) (OnceResult, error) {
	if err := w.check(); err != nil {
		return OnceResult{}, err
	}
	a := OnceResult{Request: w, TOML: w.toml(), Command: w.command()}
	var err error
	if a.Expected, err = w.forecast(ctx, w.intervals(), unhurt); err != nil {
		return a, err
	}
	few := max(w.intervals()/whatIfPart, onceLeast) / onceSeeds * onceSeeds
	w.FailsEvery, w.DownFor = 0, 0
	if a.Cut, err = w.forecast(ctx, few, inHalves); err != nil {
		return a, err
	}
	dies, err := w.forecast(ctx, few, dying)
	a.Dies = dies.Late
	return a, err
}

// hurt is what happens to a fleet in a "what if".
type hurt uint8

const (
	unhurt hurt = iota
	// inHalves: the network is in two halves.
	inHalves
	// dying: the host of each first run in an interval loses its power in it.
	dying
)

// onceRun is one simulated fleet.
type onceRun struct {
	late            []float64
	twice, runs     int
	messages, steps uint64
	// first is when the first run of the interval began that has succeeded, and began when each member's last one has.
	// diedAt is when the last host has lost its power.
	first, diedAt policy.Time
	began         map[int]policy.Time
}

// forecast simulates some fleets. The first interval is not counted.
func (w *OnceRequest) forecast(ctx context.Context, intervals int, what hurt) (OnceForecast, error) {
	lasts := time.Duration(intervals/onceSeeds) * w.Every
	runs, err := seeds.Across(ctx, 0, nil, onceSeeds, func(ctx context.Context, job int) (onceRun, error) {
		r := onceRun{began: map[int]policy.Time{}}
		c := w.fleet(job, sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
			w.watch(&r, c, o, what)
			return nil
		}))
		c.Boot()
		c.After(w.Every/2, func() {
			if what == inHalves {
				sides := make([]bool, w.Members)
				for i := range w.Members / 2 {
					sides[i] = true
				}
				c.Part(sides, false)
			}
		})
		c.StartFaults(sim.Faults{CrashEvery: w.FailsEvery, DownFor: w.DownFor, HostShare: 1})
		_, err := c.RunFor(ctx, policy.Time(w.Every+lasts), nil)
		r.steps = c.Steps()
		return r, err
	})
	if err != nil {
		return OnceForecast{}, err
	}
	f := OnceForecast{Intervals: intervals, Simulated: Simulated{Seeds: len(runs)}}
	var all []float64
	sent := uint64(0)
	for i := range runs {
		r := &runs[i]
		all = append(all, r.late...)
		f.Twice += r.twice
		f.Simulated.Operations += r.runs
		f.Simulated.Duration += lasts.Seconds()
		f.Simulated.Steps += r.steps
		sent += r.messages
	}
	slices.Sort(all)
	f.Late = quantiles(all)
	f.Late.Mean = measure.EstimateBy(runs, func(r *onceRun) measure.Number { return mean(r.late) })
	f.PerRun = measure.Number(sent) / measure.Number(f.Simulated.Operations)
	return f, nil
}

// fleet makes a fleet of members that run once in each interval, whichever is first.
func (w *OnceRequest) fleet(job int, watcher sim.Watcher) *sim.Cluster {
	s := calling.Scenario{
		Seed: w.Seed + uint64(job), Members: w.Members, Skip: w.skip(), Op: w.Op, MinInterval: w.Every,
		Backups: w.Backups, Operators: sim.Operators{Once: w.Every},
		Network: sim.Network{Latency: w.latency(), Loss: w.Loss}, Membership: sim.MeasuredMembership(w.Members),
		Hook: sim.Hook{Takes: w.Op, Spread: opSpread},
	}
	return s.NewCluster(watcher)
}

// watch counts runs and datagrams after the first interval.
func (w *OnceRequest) watch(r *onceRun, c *sim.Cluster, o *sim.Occurrence, what hurt) {
	counts := o.At > policy.Time(w.Every)
	if o.EndsOperation() && !o.Event.Denied && o.Event.Outcome == policy.Succeeded {
		if at := r.began[o.Member]; r.first == 0 || at.Sub(r.first) >= w.Every {
			r.first = at
		}
	}
	for range o.Operations() {
		r.began[o.Member] = o.At
		if !counts || r.first == 0 {
			continue
		}
		r.runs++
		switch after := o.At.Sub(r.first); {
		case what == dying && r.diedAt > r.first.Add(w.Every):
			r.late = append(r.late, o.At.Sub(r.diedAt).Seconds())
		case what == dying && after >= w.Every:
			w.kill(r, c, o.Member)
		case after < w.Every:
			r.twice++
		default:
			r.late = append(r.late, (after - w.Every).Seconds())
		}
	}
	if counts {
		for range o.Did(policy.Send) {
			r.messages++
		}
	}
}

// kill lets a host lose its power in its run.
func (w *OnceRequest) kill(r *onceRun, c *sim.Cluster, who int) {
	c.After(w.Op/4, func() {
		r.diedAt = c.Now()
		c.PowerCut(who)
	})
	c.After(w.Op/4+min(time.Hour, w.Every/4), func() {
		if !c.Up(who) {
			c.Start(who)
		}
	})
}
