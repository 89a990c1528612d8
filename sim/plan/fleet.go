package plan

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/measure"
)

// fleet is a simulated fleet: members with these constants, in the long run.
type fleet struct {
	members   int
	constants Constants
	request   *Request
	theory    theory
	// guarded is true if guardians are simulated too.
	guarded bool
}

func newFleet(w *Request, members int, k *Constants) fleet {
	return fleet{
		members: members, constants: *k, request: w, theory: newTheory(w, members, k.Skip), guarded: watched(w, k),
	}
}

// maxInterval returns the Δmax in force. By default it follows the number of members.
func (f *fleet) maxInterval() time.Duration {
	if f.constants.DefaultMaxInterval {
		return defaultMaxInterval(f.members, &f.constants)
	}
	return f.constants.MaxInterval
}

// busy returns the share of time in which a token is in use, and wait the mean wait in seconds, both by theory.
func (f *fleet) busy() float64 { return f.theory.busy(f.constants.MinInterval.Seconds()) }

func (f *fleet) wait() float64 {
	minInterval := f.constants.MinInterval.Seconds()
	if wait := f.theory.interval(f.busy()) - minInterval; wait > 1e-9*minInterval {
		return wait
	}
	return 0 // but for rounding
}

// run is the result of one seed.
type run struct {
	figures measure.Figures
	// waits are the times from when a member became due to when it ran, in seconds.
	waits []float64
	steps uint64
	loss  aftermath
}

// The steps of machines in a run.
const (
	// bootSteps is the number of each member's steps until the token moves: a start, a view, and another view when
	// others have met a token.
	bootSteps = 3
	// hopSteps is the number of steps of a handoff (Token, Ack, Commit) and of the end of a stay (skip, or the
	// operation). With guardians there are more.
	hopSteps = 4
	// parts is the number of parts of a run; after each, the work done so far is checked.
	parts = 64
)

const (
	// mostCycles is the greatest number of a member's intervals in a run: more would tell nothing new.
	mostCycles = 200
	// settling is the number of mean waits before the measurement begins.
	settling = 2
	// longestRun keeps virtual time far from the end of its range.
	longestRun = 60 * longest
	// detectAfter is the time until others notice a crash, as memberlist does it.
	detectAfter = 10 * time.Second
	// overrun times the planned work ends a run, however far it has come.
	overrun = 2
	// opSpread is the variation of op, as a share of it: real operations vary too.
	opSpread = 0.5
)

// simulate runs the fleet for about budget steps. Then it kills the token's holder, and watches the recovery for at
// most lossExperiment steps.
func (f *fleet) simulate(ctx context.Context, seed, budget, lossExperiment uint64) (run, error) {
	settle, whole := f.durations(budget)
	quiet := min(seconds(quietWaits*max(f.wait(), f.theory.lap(f.busy()))), f.maxInterval())
	meter := measure.New(measure.Config{Members: f.members, Slots: f.constants.Slots, Quiet: quiet})
	lives := f.earlierLives(seed)
	var waits []float64
	limit := overrun * budget
	c := f.world(seed, lives, meter, f.recordWaits(lives, &waits), within(ctx, &limit))
	err := c.Run(policy.Time(settle))
	meter.Begin(c.Now())
	waits = nil
	for end := policy.Time(whole); err == nil && c.Now() < end && c.Steps() < budget; {
		err = c.Run(min(end, c.Now().Add(whole/parts+1)))
	}
	r := run{figures: meter.Figures(c.Now()), waits: waits}
	if err == nil && lossExperiment > 0 {
		limit = c.Steps() + lossExperiment
		if err = c.Run(c.Now().Add(f.anyMoment(seed))); err == nil {
			r.loss, err = f.loseToken(c, meter, f.maxInterval()/parts)
		}
	}
	r.steps = c.Steps()
	return r, err
}

// world starts the members. The first one makes the token.
func (f *fleet) world(seed uint64, lives []time.Duration, watchers ...sim.Watcher) *sim.Cluster {
	world := f.request.scenario(&f.constants, seed, f.members)
	if f.constants.DefaultMaxInterval {
		world.MaxInterval = 0
	}
	if f.guarded {
		world.Backups = f.constants.Backups
	}
	c := world.NewCluster(watchers...)
	for i, age := range lives {
		if age > 0 {
			wandering.Remember(c, i, age)
		}
	}
	c.BootWithToken(0)
	return c
}

// scenario returns a fleet with these constants, without guardians.
func (w *Request) scenario(k *Constants, seed uint64, members int) wandering.Scenario {
	return wandering.Scenario{
		Seed: seed, Members: members, Walk: k.Walk, Slots: k.Slots, AskFirst: true,
		Skip: k.Skip, Op: k.Op, MinInterval: k.MinInterval, MaxInterval: k.MaxInterval,
		Network: sim.Network{Latency: w.latency(), Loss: w.Loss}, Membership: sim.Membership{DetectAfter: detectAfter},
		Hook: sim.Hook{Takes: k.Op, Spread: opSpread},
	}
}

// durations chooses how long a run lasts and when its measurement begins, within the budget. In a sweep all members run
// in a row, and then nobody does: the measurement begins in such a pause after two rounds, and lasts for whole
// intervals.
func (f *fleet) durations(budget uint64) (settle, whole time.Duration) {
	steps := max(float64(budget)-bootSteps*float64(f.members), 0)
	interval := f.theory.interval(f.busy())
	lasts := min(steps/f.stepsPerSecond(f.inTheory()), mostCycles*interval, longestRun.Seconds())
	begins, measured := settling*f.wait(), 0.0
	if f.constants.Walk == wander.Sweep {
		row := f.theory.members / f.theory.slots * (f.theory.op + f.theory.handoff)
		begins = interval + (row+interval)/2
		measured = interval * math.Floor((lasts-begins)/interval)
	} else if lasts > 2*begins {
		measured = lasts - begins
	}
	return seconds(begins), seconds(begins + max(0, measured))
}

// earlierLives draws how long ago each member ran last (zero: never), so that the fleet begins in its long-run state:
// runs are spread evenly, and the usual number of members is due. If all start at once, their runs stay close together
// for many intervals; in a sweep for good, so there the fleet begins like that. Member 0, which makes the token, has no
// earlier life.
func (f *fleet) earlierLives(seed uint64) []time.Duration {
	dice := rand.New(rand.NewPCG(seed, 0x706c616e))
	minInterval, wait := f.constants.MinInterval.Seconds(), f.wait()
	lives := make([]time.Duration, f.members)
	if f.constants.Walk == wander.Sweep {
		return lives
	}
	for i := 1; i < f.members; i++ {
		age := dice.Float64() * (minInterval + wait)
		if age > minInterval {
			age = minInterval + dice.ExpFloat64()*wait
		}
		lives[i] = min(seconds(age), longestRun)
	}
	return lives
}

var errSpent = errors.New("the work is done")

// within ends a run after that many steps, or when its context is done.
func within(ctx context.Context, limit *uint64) sim.WatcherFunc {
	return func(c *sim.Cluster, _ *sim.Occurrence) error {
		steps := c.Steps()
		if steps%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if steps > *limit {
			return errSpent
		}
		return nil
	}
}

// recordWaits records the times from when a member became due to its run, in seconds.
func (f *fleet) recordWaits(lives []time.Duration, waits *[]float64) sim.WatcherFunc {
	// lastRun is each member's last run; [policy.Never] if it has not run.
	lastRun := slices.Repeat([]policy.Time{policy.Never}, len(lives))
	for i, age := range lives {
		if age > 0 {
			lastRun[i] = policy.Time(-age)
		}
	}
	return func(_ *sim.Cluster, o *sim.Occurrence) error {
		for range o.Did(policy.Run) {
			if last := lastRun[o.Member]; last < policy.Never {
				*waits = append(*waits, (o.At.Sub(last) - f.constants.MinInterval).Seconds())
			}
			lastRun[o.Member] = o.At
		}
		return nil
	}
}
