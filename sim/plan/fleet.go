package plan

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/measure"
)

// fleet is what is simulated: members with these constants, in the long run.
type fleet struct {
	members   int
	constants Constants
	latency   time.Duration
	loss      float64
	theory    theory
	// guarded says that the guardians are simulated too.
	guarded bool
}

func newFleet(w *Wish, members int, k *Constants) fleet {
	return fleet{
		members: members, constants: *k, latency: w.latency(), loss: w.Loss, theory: newTheory(w, members, k.Skip),
		guarded: watched(w, k),
	}
}

// maxInterval is Δmax in force: where it is left to the default rule, it follows the number of members.
func (f *fleet) maxInterval() time.Duration {
	if f.constants.DefaultMaxInterval {
		return defaultMaxInterval(f.members, &f.constants)
	}
	return f.constants.MaxInterval
}

// busy and wait are the share of time, and the mean time in seconds, that theory has.
func (f *fleet) busy() float64 { return f.theory.busy(f.constants.MinInterval.Seconds()) }

func (f *fleet) wait() float64 {
	minInterval := f.constants.MinInterval.Seconds()
	if wait := f.theory.interval(f.busy()) - minInterval; wait > 1e-9*minInterval {
		return wait
	}
	return 0 // but for rounding
}

// run is what one seed led to.
type run struct {
	figures measure.Figures
	// waits are the times from when a member became due to when it ran, in seconds.
	waits []float64
	steps uint64
	loss  aftermath
}

// What steps of machines a run is made of.
const (
	// bootSteps are those of each member until the token is on its way: started, given a view, and told once more that others
	// have met a token.
	bootSteps = 3
	// hopSteps are those of a handoff (Token, Ack, Commit) and of what ends the stay: skip, or the operation. Guardians take
	// more.
	hopSteps = 4
	// parts is into how many a run is cut, to look at the work it has taken.
	parts = 64
)

const (
	// mostCycles is how many intervals of a member a run lasts at most: more would tell nothing new.
	mostCycles = 200
	// settling is how many mean waits pass before the measurement begins.
	settling = 2
	// longestRun keeps virtual time far from the end of its range.
	longestRun = 60 * longest
	// detectAfter is how late the others notice a crash, as memberlist does it.
	detectAfter = 10 * time.Second
	// overrun is by how much more work than planned a run may take, before it is stopped wherever it is.
	overrun = 2
	// opSpread is by how much of itself the duration of runs varies: real ones do.
	opSpread = 0.5
)

// simulate runs the fleet for about as many steps as budget says, and then, for at most as many as inquest says, what
// becomes of it when its token is lost.
func (f *fleet) simulate(ctx context.Context, seed, budget, inquest uint64) (run, error) {
	settle, whole := f.durations(budget)
	quiet := min(seconds(quietWaits*max(f.wait(), f.theory.lap(f.busy()))), f.maxInterval())
	meter := measure.New(measure.Config{Members: f.members, Slots: f.constants.Slots, Quiet: quiet})
	lives := f.earlierLives(seed)
	watch := newWaiting(lives, f.constants.MinInterval)
	limit := &work{ctx: ctx, limit: overrun * budget}
	c := f.world(seed, lives, meter, watch, limit)
	err := c.Run(policy.Time(settle))
	meter.Begin(c.Now())
	watch.counting = true
	for end := policy.Time(whole); err == nil && c.Now() < end && c.Steps() < budget; {
		err = c.Run(min(end, c.Now().Add(whole/parts+1)))
	}
	r := run{figures: meter.Figures(c.Now()), waits: watch.seconds}
	if err == nil && inquest > 0 {
		limit.limit = c.Steps() + inquest
		if err = c.Run(c.Now().Add(f.anyMoment(seed))); err == nil {
			r.loss, err = f.loseToken(c, meter, f.maxInterval()/parts)
		}
	}
	r.steps = c.Steps()
	return r, err
}

// world starts the members, the first of which makes the token.
func (f *fleet) world(seed uint64, lives []time.Duration, watchers ...sim.Watcher) *sim.Cluster {
	k := &f.constants
	world := wandering.Scenario{
		Seed: seed, Members: f.members, Walk: k.Walk, Slots: k.Slots, AskFirst: true,
		Skip: k.Skip, Op: k.Op, MinInterval: k.MinInterval, MaxInterval: k.MaxInterval,
		Network: sim.Network{Latency: f.latency, Loss: f.loss}, Membership: sim.Membership{DetectAfter: detectAfter},
		Hook: sim.Hook{Takes: k.Op, Spread: opSpread},
	}
	if k.DefaultMaxInterval {
		world.MaxInterval = 0
	}
	if f.guarded {
		world.Backups = k.Backups
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

// durations chooses how long a run lasts, from the work it may take, and after which part of it the measurement begins. In a
// sweep, where all members run in a row and then nobody does, it is when everybody has run twice and nobody does, and lasts for
// whole intervals.
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

// worthwhile reports whether a run of so much work shows anything.
func (f *fleet) worthwhile(budget uint64) bool {
	settle, whole := f.durations(budget)
	return settle < whole
}

// earlierLives draws how long ago each member ran last, zero being never, so that a run begins as it goes on: their turns are
// spread evenly, and as many are due as ever. A fleet that starts all at once keeps its members' turns close together for many
// intervals. In a sweep it does so for good, and begins like that. Member 0, which makes the token, has no earlier life.
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

// work bounds a run by the steps it takes, and by its context. It is a [sim.Watcher].
type work struct {
	ctx   context.Context
	limit uint64
}

// Watch ends the run when it has taken enough steps or nobody waits for it any longer.
func (k *work) Watch(c *sim.Cluster, _ *sim.Occurrence) error {
	steps := c.Steps()
	if steps%1024 == 0 && k.ctx.Err() != nil {
		return k.ctx.Err()
	}
	if steps > k.limit {
		return errSpent
	}
	return nil
}

// waiting is the times from when a member became due to when it ran. It is a [sim.Watcher].
type waiting struct {
	minInterval time.Duration
	// ran says that a member's lastRun means something.
	ran      []bool
	lastRun  []policy.Time
	counting bool
	seconds  []float64
}

func newWaiting(lives []time.Duration, minInterval time.Duration) *waiting {
	k := &waiting{minInterval: minInterval, ran: make([]bool, len(lives)), lastRun: make([]policy.Time, len(lives))}
	for i, age := range lives {
		k.ran[i], k.lastRun[i] = age > 0, policy.Time(0).Add(-age)
	}
	return k
}

// Watch implements [sim.Watcher].
func (k *waiting) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped {
		return nil
	}
	for i := range o.Effects {
		if o.Effects[i].Kind != policy.Run {
			continue
		}
		if k.counting && k.ran[o.Member] {
			k.seconds = append(k.seconds, (o.At.Sub(k.lastRun[o.Member]) - k.minInterval).Seconds())
		}
		k.ran[o.Member], k.lastRun[o.Member] = true, o.At
	}
	return nil
}
