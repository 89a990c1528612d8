package beyond

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// rules are one line in every table: how a fleet keeps its token.
type rules struct {
	name    string
	walk    wander.Walk
	backups int
	// maxInterval is Δmax; 0 means the default rule.
	maxInterval time.Duration
}

// guardians is the default number of guardians.
const guardians = 2

// allRules returns the paper's rules, and wanderd's with each walk.
func allRules() []rules {
	all := []rules{{name: "the paper's rules", walk: wander.Random, maxInterval: study.MaxInterval}}
	for _, w := range wander.Walks() {
		all = append(all, rules{name: w.String(), walk: w, backups: guardians})
	}
	return all
}

// isPaper reports whether these are the paper's rules, which have no targets.
func (r *rules) isPaper() bool { return r.backups == 0 }

// world is a fleet's environment.
type world struct {
	// name completes a title. It is empty for a world without faults.
	name string
	// change turns a world without faults into this one. If it is nil, it changes nothing.
	change func(s *wandering.Scenario)
	// up is the mean share of members that are up; 0 means all.
	up float64
}

func (w *world) title(of string) string { return strings.TrimSuffix(of+", "+w.name, ", ") }

// cell is a fleet in a world: one line of a table.
type cell struct {
	world   world
	members int
	rules   rules
	// duration is the length of each run after the fleet has settled. seeds is the number of runs.
	duration time.Duration
	seeds    int
	// faults is the number of faults of each kind with each seed; 0 means none.
	faults int
}

// A usual line rests on a million seconds, as the paper's runs do, in twenty independent pieces, and on a
// hundred faults of each kind.
const (
	usualDuration = 50_000 * time.Second
	usualSeeds    = 20
	usualFaults   = 5
)

// cells returns all rules for each number of members, in one world. Under the paper's rules recovery from a fault takes
// hours: such fleets have faults only in a world where nothing else goes wrong.
func cells(w world, members ...int) []cell {
	var all []cell
	for _, n := range members {
		for _, r := range allRules() {
			c := cell{world: w, members: n, rules: r, duration: usualDuration, seeds: usualSeeds, faults: usualFaults}
			if r.isPaper() && w.change != nil {
				c.faults = 0
			}
			all = append(all, c)
		}
	}
	return all
}

// papersFleets returns the fleets of the paper's two sizes.
func papersFleets(w world) []cell { return cells(w, study.Nominal, study.Overload) }

func changed(all []cell, change func(*cell)) []cell {
	for i := range all {
		change(&all[i])
	}
	return all
}

// seedsOf returns the number of seeds to run, in proportion to the option.
func (c *cell) seedsOf(o study.Options) int {
	return max(1, c.seeds*o.SeedsOr(usualSeeds)/usualSeeds)
}

// The time until all members know of a join, and of a crash, a partition or its end.
const (
	gossipAfter = time.Second
	detectAfter = 10 * time.Second
)

// scenario returns the world of one run.
func (c *cell) scenario(seed uint64) wandering.Scenario {
	s := wandering.Scenario{
		Seed: seed, Members: c.members, WaitAlone: true,
		Skip: study.Skip, Op: study.Op, MinInterval: study.MinInterval, MaxInterval: c.rules.maxInterval,
		Walk: c.rules.walk, Backups: c.rules.backups,
		Network:    sim.Network{Latency: time.Millisecond},
		Membership: sim.Membership{GossipAfter: gossipAfter, DetectAfter: detectAfter, RejoinAfter: detectAfter},
		Hook:       sim.Hook{Takes: study.Op},
	}
	if c.world.change != nil {
		c.world.change(&s)
	}
	return s
}

// settled returns when the effects of the start are over and measuring begins: after two laps, and at least 5000 s. A
// random walk has visited all members after N (ln N + 0.58) hops on average.
func (c *cell) settled() time.Duration {
	hops := float64(c.members)
	if c.rules.walk == wander.Random {
		hops *= math.Log(hops) + 1
	}
	return max(5000*time.Second, time.Duration(2*hops*float64(c.best().op)))
}

// best is the optimum of all schedules that run one operation at a time and respect every member's min_interval.
type best struct {
	// op is the mean duration of an operation.
	op time.Duration
	// busy is the share of the time in which an operation runs.
	busy float64
	// interval is the time between two operations of one member, if all have the same.
	interval time.Duration
}

func (c *cell) best() best {
	op, up := c.scenario(0).Hook.Takes, float64(c.members)
	if c.world.up > 0 {
		up *= c.world.up
	}
	return best{
		op:       op,
		busy:     min(1, up*float64(op)/float64(study.MinInterval)),
		interval: max(study.MinInterval, time.Duration(up*float64(op))),
	}
}

func (c *cell) label() string { return fmt.Sprintf("%d, %s", c.members, c.rules.name) }
