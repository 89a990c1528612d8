package beyond

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/measure"
)

// fault is a way to lose the token.
type fault uint8

const (
	// lostCommit: all Commits of one handoff are lost.
	lostCommit fault = iota
	// crashedHolder: the holder of the token crashes with its host, whatever it is doing. The guard of a run, which
	// would send messages for an agent that dies alone, dies with it.
	crashedHolder
	// crashedBoth: the holder and the first of its guardians crash at the same instant.
	crashedBoth

	faultsEnd
)

func (f fault) String() string {
	return [...]string{"a lost Commit", "a crashed holder", "holder and guardian crashed"}[f]
}

// faults returns the faults that make a difference under these rules.
func (r *rules) faults() []fault {
	all := []fault{lostCommit, crashedHolder, crashedBoth}
	if r.isPaper() {
		return all[:2]
	}
	return all
}

// recovery is the result of one fault.
type recovery struct {
	fault fault
	// held is how long it took until a member held a token again. single is how long it took until the moment from
	// which there was exactly one, for at least quiet. They are negative if that was not within patience.
	held, single time.Duration
	// overlap is for how long two or more operations ran at once, from the fault until there had been one token for
	// quiet.
	overlap time.Duration
}

// quiet is how long there must have been exactly one token for the fleet to count as stable. The paper does not define
// it. With Δmin, the durations measured under the paper's own rules are close to the printed ones at N = 300, and
// shorter at N = 150 (package paper).
const quiet = study.MinInterval

// patience is the time for which a recovery is watched.
const patience = 100_000 * time.Second

// How long a crashed member is down, how often the fleet is checked for stability, and the longest time from then to
// the next fault.
const (
	downFor   = time.Minute
	lookEvery = 10 * time.Second
	nextFault = study.MinInterval
)

// tormentor loses the token of one fleet again and again, each time when there is exactly one, and watches each
// recovery. It implements [sim.Watcher].
type tormentor struct {
	// Each of the faults is done each times, in turn, the first one some while after from.
	faults []fault
	each   int
	from   time.Duration

	c         *sim.Cluster
	dice      *rand.Rand
	holders   holders
	operation *measure.Concurrency
	// open is true while the fleet has not recovered from the last fault of done; at is when that fault was. crowded is
	// for how long operations had overlapped until then.
	open    bool
	at      policy.Time
	crowded time.Duration
	done    []recovery
}

// errEnough ends a run that is complete.
var errEnough = errors.New("enough has been seen")

// tormentAll does each fault in a cell as often as one seed requires. Under wanderd's rules a fleet recovers within
// seconds, so one fault has no effect on the next. Under the paper's rules Δgen remembers for hours: there, each fault
// has a fleet of its own.
func tormentAll(ctx context.Context, c *cell, seed uint64) ([]recovery, error) {
	if !c.rules.isPaper() {
		return torment(ctx, c, seed, c.rules.faults(), c.faults)
	}
	var all []recovery
	for i := range c.faults {
		for _, f := range c.rules.faults() {
			own := (seed*uint64(c.faults)+uint64(i))*uint64(faultsEnd) + uint64(f)
			one, err := torment(ctx, c, own, []fault{f}, 1)
			if all = append(all, one...); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// torment runs a cell until each of the faults has been done the given number of times.
func torment(ctx context.Context, c *cell, seed uint64, faults []fault, each int) ([]recovery, error) {
	t := &tormentor{
		faults: faults, each: each, from: c.settled(),
		dice: rand.New(rand.NewPCG(seed, uint64(c.members))), holders: newHolders(c.members),
		operation: measure.NewConcurrency(),
	}
	s := c.scenario(seed)
	s.Duration = t.from + time.Duration(each*len(faults))*(patience+quiet)
	if _, err := s.Measure(ctx, nil, t); !errors.Is(err, errEnough) {
		return t.done, err
	}
	return t.done, nil
}

// Watch implements sim.Watcher. Its error means that the fleet has recovered from the last fault.
func (t *tormentor) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if t.c == nil {
		t.c = c
		c.After(t.from, t.next)
	}
	_ = t.operation.Watch(c, o) // it never has an error
	t.holders.watch(o)
	if r := t.last(); t.open && r.held < 0 && t.holders.count > 0 {
		r.held = o.At.Sub(t.at)
	}
	if len(t.done) == t.each*len(t.faults) && !t.open {
		return errEnough
	}
	return nil
}

// last returns the result of the latest fault.
func (t *tormentor) last() *recovery {
	if len(t.done) == 0 {
		return &recovery{}
	}
	return &t.done[len(t.done)-1]
}

// next arranges the next fault at a random moment within a while.
func (t *tormentor) next() {
	t.c.After(time.Duration(t.dice.Int64N(int64(nextFault))), t.strike)
}

// strike does a fault now, or a little later if it cannot be done now.
func (t *tormentor) strike() {
	what := t.faults[len(t.done)%len(t.faults)]
	if what == lostCommit {
		t.c.LoseNext(func() { t.begin(lostCommit) })
		return
	}
	holder, ok := t.holders.only()
	if !ok {
		t.next()
		return
	}
	held := wandering.Detail(t.c, holder)
	first := held.Trail()[0]
	t.begin(what)
	t.crash(holder)
	if what == crashedBoth && !first.IsZero() {
		t.crash(sim.IndexOf(first))
	}
}

func (t *tormentor) begin(what fault) {
	t.done = append(t.done, recovery{fault: what, held: -1, single: -1})
	t.open, t.at, t.crowded = true, t.c.Now(), t.overlap()
	t.c.After(lookEvery, t.look)
}

func (t *tormentor) crash(member int) {
	t.c.PowerCut(member)
	t.c.After(downFor, func() {
		if !t.c.Up(member) {
			t.c.Start(member)
		}
	})
}

// look ends the watch if the fleet is stable again, or if patience is over.
func (t *tormentor) look() {
	now, r := t.c.Now(), t.last()
	stable := r.held >= 0 && t.holders.one(now, quiet)
	if !stable && now.Sub(t.at) < patience {
		t.c.After(lookEvery, t.look)
		return
	}
	if stable {
		r.single = max(t.holders.since.Sub(t.at), r.held)
	}
	r.overlap = t.overlap() - t.crowded
	t.open = false
	t.next()
}

// overlap returns the time with two or more operations at once until now.
func (t *tormentor) overlap() time.Duration {
	total := time.Duration(0)
	for level, spent := range t.operation.Spent(t.c.Now()) {
		if level > 1 {
			total += spent
		}
	}
	return total
}
