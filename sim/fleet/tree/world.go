// Package tree runs the sites of package policy/tree in virtual time: with demand, crashes and faults, with checkers of
// its own, and with the figures of Sopena, Arantes and Sens, section 5.
//
// It does not choose experiments: those of the paper are in package lab/study/siblings.
package tree

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Scenario is a run of the sites.
type Scenario struct {
	Seed    uint64
	Members int
	// Backups is k.
	Backups  int
	Recovery tree.Recovery
	Links    tree.Links
	Timers   tree.Timers
	Network  sim.Network
	// Section is α, "time to execute the critical section"; Between is β, the "mean time interval between the release
	// of the CS by a node and its request by this same node" (section 5.1), and is exponentially distributed.
	Section, Between time.Duration
	// SectionSpread is the share of itself by which a section's duration varies, evenly, up or down.
	SectionSpread float64
	// Sections is how many sections each site executes. Zero means as many as there is time for.
	Sections int
	// Crashes is how many sites crash, all at once, at a moment before CrashWithin that is drawn evenly. The sites are
	// drawn too. If CrashHolder is set, the site that has the token, or is to have it next, is among them.
	Crashes     int
	CrashWithin time.Duration
	CrashHolder bool
	// Leaves is how many sites leave in good order, and Pauses how many stand still for PauseFor, at moments before
	// CrashWithin.
	Leaves, Pauses int
	PauseFor       time.Duration
	// Withdrawn is the share of demands that are withdrawn after a while, Between on average, unless they are served
	// before.
	Withdrawn float64
	// Again is the share of sections during which the site wants its next one already.
	Again float64
	// Faults are further faults. They go on for the whole run; a member that crashes starts again.
	Faults sim.Faults
	// Limit is when the run ends at the latest. If Sections is set, it ends as soon as all live sites have executed
	// theirs.
	Limit time.Duration
}

// World is a scenario under way.
type World struct {
	scenario Scenario
	cluster  *sim.Cluster
	machines []*tree.Machine
	// left is how many sections each site still has to execute.
	left []int
	// running are the sites in their sections.
	running []bool
	// lives counts the starts of each site. wants are the sites that want the section after the present one already.
	lives   []int
	wants   []bool
	dice    *rand.Rand
	custody *custody
	meter   *meter
}

// NewWorld returns a world in which nothing has happened yet. The watchers are called after the world's own.
func NewWorld(s Scenario, watchers ...sim.Watcher) *World {
	w := &World{
		scenario: s, machines: make([]*tree.Machine, s.Members), left: make([]int, s.Members),
		running: make([]bool, s.Members), lives: make([]int, s.Members), wants: make([]bool, s.Members),
		dice:    rand.New(rand.NewPCG(s.Seed, 0x7472_6565)),
		custody: &custody{held: make([]bool, s.Members), flying: make([]int, s.Members)},
		meter:   &meter{wanted: slices.Repeat([]policy.Time{policy.Never}, s.Members)},
	}
	// A site's rank in the tree is its number in the cluster.
	ids := sim.Roster(sim.InOrder, s.Seed, s.Members)
	cfg := sim.Config{
		Seed: s.Seed, Members: s.Members, Order: sim.InOrder, Descriptor: tree.Descriptor(), Network: s.Network,
		Hook: sim.Hook{Takes: s.Section, Spread: s.SectionSpread},
		Machine: func(env sim.Env) policy.Machine {
			m := tree.New(tree.Config{
				Gate: wire.GateIDOf("default"), Self: env.Self, Roster: ids, Backups: s.Backups, Recovery: s.Recovery,
				Links:  s.Links,
				Timers: s.Timers, Rejoins: env.Rejoins, Entropy: env.Entropy,
			})
			w.machines[env.Index] = m
			return m
		},
		Watchers: append([]sim.Watcher{w.custody, w.meter, w}, watchers...),
	}
	if s.Sections == 0 {
		cfg.Demand = sim.Demand{Every: s.Between}
	}
	w.cluster = sim.New(cfg)
	return w
}

// Run runs the scenario to its end, and returns its figures, and the first error of a watcher.
func (w *World) Run() (*Figures, error) { return w.RunFor(context.Background(), nil) }

// RunFor is Run with a context: it calls progress with the time that was reached, and ends early, with the error of
// ctx, if that is cancelled.
func (w *World) RunFor(ctx context.Context, progress func(now policy.Time)) (*Figures, error) {
	s := &w.scenario
	for i := range w.left {
		w.left[i] = s.Sections
	}
	w.cluster.Boot()
	w.cluster.StartFaults(s.Faults)
	w.disturb()
	for at := policy.Time(0); ; {
		at = min(at.Add(slice), policy.Time(s.Limit))
		if err := w.cluster.Run(at); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(at)
		}
		if done := s.Sections > 0 && w.done(); done || at == policy.Time(s.Limit) || ctx.Err() != nil {
			f := w.meter.done(at)
			f.Regenerated, f.FalselyRegenerated = w.custody.made, w.custody.falsely
			f.Stuck, f.Steps = s.Sections > 0 && !done, w.cluster.Steps()
			return f, ctx.Err()
		}
	}
}

// slice is how often the world checks whether everything is done.
const slice = 10 * time.Second

// between draws a time whose mean is Between.
func (w *World) between() time.Duration {
	return time.Duration(w.dice.ExpFloat64() * float64(w.scenario.Between))
}

// later lets a site want its next section after a while, and perhaps withdraw that.
func (w *World) later(i int) {
	life := w.lives[i]
	w.cluster.After(w.between(), func() {
		if !w.cluster.Up(i) || w.lives[i] != life {
			return
		}
		left := w.left[i]
		if w.scenario.Withdrawn > 0 && w.dice.Float64() < w.scenario.Withdrawn {
			w.cluster.After(w.between(), func() {
				if w.cluster.Up(i) && w.lives[i] == life && w.left[i] == left && !w.running[i] {
					w.cluster.Unwant(i)
					w.served(i)
				}
			})
		}
		w.cluster.Want(i)
	})
}

// again may let a site whose section has begun want its next one within that.
func (w *World) again(i int) {
	s, life := &w.scenario, w.lives[i]
	if s.Again == 0 || w.left[i] < 2 || w.dice.Float64() >= s.Again {
		return
	}
	w.wants[i] = true
	w.cluster.After(time.Duration(w.dice.Float64()*float64(s.Section)), func() {
		if w.cluster.Up(i) && w.lives[i] == life {
			w.cluster.Want(i)
		}
	})
}

// served is called when a site has executed a section, or does not want it any more.
func (w *World) served(i int) {
	if w.left[i]--; w.left[i] > 0 && !w.wants[i] {
		w.later(i)
	}
	w.wants[i] = false
}

// disturb arranges the faults.
func (w *World) disturb() {
	s := &w.scenario
	moment := func() policy.Time { return policy.Time(w.dice.Float64() * float64(s.CrashWithin)) }
	if s.Crashes > 0 {
		w.cluster.At(moment(), w.crash)
	}
	for range s.Leaves {
		i := w.dice.IntN(s.Members)
		w.cluster.At(moment(), func() { w.cluster.Leave(i) })
	}
	for range s.Pauses {
		i := w.dice.IntN(s.Members)
		w.cluster.At(moment(), func() { w.cluster.Pause(i, s.PauseFor) })
	}
}

// crash carries out the paper's "simultaneous faults".
func (w *World) crash() {
	order := w.dice.Perm(w.scenario.Members)
	if holder, ok := w.custody.holder(); ok && w.scenario.CrashHolder {
		at := slices.Index(order, holder)
		order[0], order[at] = order[at], order[0]
	}
	for _, i := range order[:w.scenario.Crashes] {
		w.cluster.PowerCut(i)
	}
}

// done reports whether all live sites have executed their sections.
func (w *World) done() bool {
	for i, left := range w.left {
		if left > 0 && w.cluster.Up(i) {
			return false
		}
	}
	return true
}

// Watch counts the sections.
func (w *World) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind == sim.Came {
		w.lives[o.Member]++
		w.running[o.Member], w.wants[o.Member] = false, false
		if w.left[o.Member] > 0 {
			w.later(o.Member)
		}
	}
	if o.On(policy.Finished) {
		w.running[o.Member] = false
		if w.scenario.Sections > 0 {
			w.served(o.Member)
		}
	}
	if o.Does(policy.Run) {
		w.running[o.Member] = true
		w.again(o.Member)
	}
	return nil
}
