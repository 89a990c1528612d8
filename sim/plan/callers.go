package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	calling "github.com/wanderd/wanderd/sim/fleet/call"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/seeds"
	"github.com/wanderd/wanderd/wire"
)

// CallersRequest is what an operator wants of a gate on demand, and what the fleet is like. Fields that a [Request] has
// mean the same, and have the same limits.
type CallersRequest struct {
	Members int
	Op      time.Duration
	// Demand is the mean time from the end of a run on a member until its next caller comes: 1 s to 365 days.
	Demand  time.Duration
	Backups int
	// Slots and SlotsShare are those of [Request].
	Slots, SlotsShare int

	Skip    time.Duration
	Latency time.Duration
	Loss    float64
	Seed    uint64
}

func (w *CallersRequest) check() error {
	r := Request{
		Members: w.Members, Op: w.Op, Every: w.Op + max(w.Demand, shortestEvery), Backups: max(w.Backups, 1),
		Slots: w.Slots, SlotsShare: w.SlotsShare, Skip: min(w.Skip, w.Op+w.Demand-1), Latency: w.Latency, Loss: w.Loss,
	}
	var problems []string
	if of, ok := errors.AsType[*Impossible](r.check()); ok {
		problems = of.Problems
	}
	if w.Demand < shortestEvery || w.Demand > longest {
		problems = append(problems, fmt.Sprintf("demand is %s: say how long after a run the next caller of a member "+
			"comes, from %s to 365d", written(w.Demand), written(shortestEvery)))
	}
	if w.Backups < 1 {
		problems = append(problems, fmt.Sprintf("backups is %d: a token that is called has 1 to %d homes", w.Backups,
			guardian.MaxBackups))
	}
	if len(problems) > 0 {
		return &Impossible{Problems: problems}
	}
	return nil
}

func (w *CallersRequest) slots() int { return w.slotsOf(w.Members) }

// slotsOf is how many may run at once if the fleet has so many members.
func (w *CallersRequest) slotsOf(members int) int { return slotsOf(members, w.Slots, w.SlotsShare) }

func (w *CallersRequest) latency() time.Duration { return cmp.Or(w.Latency, usualLatency) }

// skip returns the skip in force: that of the request, or the agent's default unless that is too short for round trips.
func (w *CallersRequest) skip() time.Duration {
	if w.Skip > 0 {
		return w.Skip
	}
	return max(time.Second, wander.LeastSkip(2*w.latency()))
}

// each returns how long a token is taken by one run: the operation, and the handoff to the next member.
func (w *CallersRequest) each() time.Duration { return w.Op + handoffTime(w.latency()) }

// load returns the share of the time for which each token must be in use if no caller ever waited for another one.
func (w *CallersRequest) load(members int) float64 {
	return float64(members) * w.each().Seconds() / ((w.Demand + w.Op).Seconds() * float64(w.slotsOf(members)))
}

// MarshalJSON writes times in seconds.
func (w CallersRequest) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"members": w.Members, "op_s": w.Op.Seconds(), "demand_s": w.Demand.Seconds(), "backups": w.Backups,
		"slots": w.slots(), "skip_s": w.skip().Seconds(), "latency_s": w.latency().Seconds(), "loss": w.Loss,
		"seed": w.Seed,
	})
}

// CallersResult describes what a gate on call will do. Times are in seconds, shares are between 0 and 1.
type CallersResult struct {
	Request CallersRequest `json:"wish"`
	// Met is true if the callers' runs fit into the time. EnoughSlots is the least number of slots for which they do; 0
	// if there is none.
	Met         bool `json:"met"`
	EnoughSlots int  `json:"enough_slots"`
	// Warnings are sentences about effects that the operator probably does not want.
	Warnings []string `json:"warnings"`
	// Load is the share of the time for which each token must be in use. Capacity is how many runs an hour the gate can
	// serve: slots / (op + a handoff).
	Load     float64 `json:"load"`
	Capacity float64 `json:"capacity_per_hour"`
	// Alone is how long a caller waits if no other does, in theory: two and a half round trips.
	Alone    float64         `json:"alone_s"`
	Expected CallersForecast `json:"expected"`
	Twice    CallersForecast `json:"twice_the_members"`
	Traffic  Traffic         `json:"traffic"`
	// AtRest is how many datagrams a second are sent while nobody waits. It is 0.
	AtRest int `json:"datagrams_at_rest"`
	// The next caller's wait after a loss of power at rest: median and longest of some losses. It is null if nobody is
	// left who could call.
	Holder         Quantiles `json:"after_holder_s"`
	FirstHome      Quantiles `json:"after_first_home_s"`
	HolderAndHomes Quantiles `json:"after_holder_and_homes_s"`
	TOML           string    `json:"toml"`
	Command        string    `json:"command"`
}

// CallersForecast is what was measured of a fleet with callers.
type CallersForecast struct {
	Members int     `json:"members"`
	Load    float64 `json:"load"`
	// Busy is the share of time in which a token is in use, Overlap that in which more members run than there are
	// slots.
	Busy    measure.Number `json:"busy"`
	Overlap measure.Number `json:"overlap"`
	// Wait is the time from when a caller comes until its run begins.
	Wait Quantiles `json:"wait_s"`
	// PerRun is the number of datagrams for each run, Datagrams that of the whole fleet in a second.
	PerRun    measure.Number `json:"datagrams_per_run"`
	Datagrams measure.Number `json:"datagrams_per_s"`
	Simulated Simulated      `json:"simulated"`
}

// The work of a plan for callers: runs in all, in so many fleets; and losses of each kind.
const (
	callersRuns  = 6000
	callersSeeds = 4
	callersLost  = 6
	// crowdedLoad is a load at which callers wait for several others.
	crowdedLoad = 0.8
)

// ForCallers answers a request. It simulates the fleet on all cores, with the machines that an agent runs. The error
// is an [*Impossible], or that of ctx.
func ForCallers(ctx context.Context, w CallersRequest) (CallersResult, error) {
	if err := w.check(); err != nil {
		return CallersResult{}, err
	}
	a := CallersResult{
		Request: w, Load: w.load(w.Members), Capacity: float64(w.slots()) * time.Hour.Seconds() / w.each().Seconds(),
		Alone: 5 * w.latency().Seconds(), Warnings: []string{},
	}
	a.Met = a.Load < 1
	for s := 1; s <= wire.MaxSlots && a.EnoughSlots == 0; s++ {
		if a.Load*float64(w.slots()) < float64(s) {
			a.EnoughSlots = s
		}
	}
	var err error
	for _, each := range []struct {
		to      *CallersForecast
		members int
	}{{&a.Expected, w.Members}, {&a.Twice, 2 * w.Members}} {
		if *each.to, err = w.forecast(ctx, each.members); err != nil {
			return a, err
		}
	}
	for _, each := range []struct {
		to   *Quantiles
		dead calling.Victims
	}{{&a.Holder, calling.Holder}, {&a.FirstHome, calling.FirstHome}, {&a.HolderAndHomes, calling.HolderAndHomes}} {
		if *each.to, err = w.afterLoss(ctx, each.dead); err != nil {
			return a, err
		}
	}
	a.Traffic = trafficOf(w.Members, float64(a.Expected.Datagrams))
	a.TOML, a.Command = w.toml(), w.command()
	a.warn()
	return a, nil
}

// scenario returns the fleet in which the callers come.
func (w *CallersRequest) scenario(members int, seed uint64) calling.Scenario {
	return calling.Scenario{
		Seed: seed, Members: members, Skip: w.skip(), Op: w.Op, OnDemand: true, Backups: w.Backups,
		Slots: w.slotsOf(members), Demand: sim.Demand{Every: w.Demand},
		Network: sim.Network{Latency: w.latency(), Loss: w.Loss}, Membership: sim.MeasuredMembership(members),
		Hook: sim.Hook{Takes: w.Op, Spread: opSpread},
	}
}

// callersRun is one simulated fleet.
type callersRun struct {
	figures measure.Figures
	waits   []float64
	steps   uint64
}

// forecast simulates some fleets. Each begins to be measured after a time in which many callers have come.
func (w *CallersRequest) forecast(ctx context.Context, members int) (CallersForecast, error) {
	slots := w.slotsOf(members)
	rate := min(w.load(members), 1) / w.each().Seconds() * float64(slots)
	lasts := seconds(callersRuns / callersSeeds / rate)
	settle := max(time.Minute, lasts/4)
	if w.load(members) >= 1 {
		settle = max(settle, 2*(w.Demand+time.Duration(members)*w.each()/time.Duration(slots)))
	}
	runs, err := seeds.Across(ctx, 0, nil, callersSeeds, func(ctx context.Context, job int) (callersRun, error) {
		s := w.scenario(members, w.Seed+uint64(job))
		meter, m := measure.New(measure.Config{Members: members, Slots: slots, Quiet: lasts}), &calling.Meter{}
		c := s.NewCluster(meter, m)
		c.Boot()
		if _, err := c.RunFor(ctx, policy.Time(settle), nil); err != nil {
			return callersRun{}, err
		}
		meter.Begin(c.Now())
		m.Reset()
		if _, err := c.RunFor(ctx, policy.Time(settle+lasts), nil); err != nil {
			return callersRun{}, err
		}
		r := callersRun{figures: meter.Figures(c.Now()), steps: c.Steps()}
		for _, d := range m.Waits {
			r.waits = append(r.waits, d.Seconds())
		}
		return r, nil
	})
	if err != nil {
		return CallersForecast{}, err
	}
	f := CallersForecast{Members: members, Load: w.load(members), Simulated: Simulated{Seeds: len(runs)}}
	var all []float64
	var sent, operations measure.Number
	for i := range runs {
		r := &runs[i]
		n := measure.Number(len(runs))
		all = append(all, r.waits...)
		f.Busy += inUse(&r.figures, slots) / n
		f.Overlap += r.figures.Overlap / n
		sent, operations = sent+r.figures.Messages, operations+r.figures.Operations
		f.Simulated.Duration += float64(r.figures.Duration)
		f.Simulated.Operations += int(r.figures.Operations)
		f.Simulated.Steps += r.steps
	}
	slices.Sort(all)
	f.Wait = quantiles(all)
	f.Wait.Mean = measure.EstimateBy(runs, func(r *callersRun) measure.Number { return mean(r.waits) })
	f.PerRun, f.Datagrams = sent/operations, sent/measure.Number(f.Simulated.Duration)
	return f, nil
}

// afterLoss measures how long the next caller waits after a loss at rest.
func (w *CallersRequest) afterLoss(ctx context.Context, dead calling.Victims) (Quantiles, error) {
	waits, err := seeds.Across(ctx, 0, nil, callersLost, func(ctx context.Context, job int) (float64, error) {
		s := w.scenario(w.Members, w.Seed+uint64(job))
		d, err := s.CallAfter(ctx, dead)
		if d == math.MaxInt64 {
			return math.NaN(), err
		}
		return d.Seconds(), err
	})
	waits = slices.DeleteFunc(waits, math.IsNaN)
	slices.Sort(waits)
	q := quantiles(waits)
	q.Mean = certain(float64(mean(waits)))
	return q, err
}
