package beyond

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/study"
)

// rules are one line in every table: how a fleet looks after its token.
type rules struct {
	name    string
	walk    wander.Walk
	backups int
	// maxInterval is Δmax; zero asks for the default rule.
	maxInterval time.Duration
}

// guardians is how many members watch a holder by default.
const guardians = 2

// allRules are the paper's, and wanderd's with each walk.
func allRules() []rules {
	all := []rules{{name: "the paper's rules", walk: wander.Random, maxInterval: study.MaxInterval}}
	for _, w := range wander.Walks() {
		all = append(all, rules{name: w.String(), walk: w, backups: guardians})
	}
	return all
}

// isPaper reports whether these are the paper's rules, which nothing is held to.
func (r *rules) isPaper() bool { return r.backups == 0 }

// world is what a fleet lives in.
type world struct {
	// name completes a title; it is empty for a world in which nothing goes wrong.
	name string
	// change makes it of a world in which nothing goes wrong; nil changes nothing.
	change func(s *wandering.Scenario)
	// up is the share of the members that are up on average; zero stands for all.
	up float64
}

// title completes the title of a table about this world.
func (w *world) title(of string) string { return strings.TrimSuffix(of+", "+w.name, ", ") }

// cell is a fleet in a world: one line of a table.
type cell struct {
	world   world
	members int
	rules   rules
	// duration is how long each run goes on after the fleet has settled, seeds how many runs there are.
	duration time.Duration
	seeds    int
	// faults is how often each fault is done with each seed; zero if the fleet is left alone.
	faults int
}

// A usual line rests on a million seconds, as the paper's runs do, in twenty pieces that know nothing of each other, and on a
// hundred faults of each kind.
const (
	usualDuration = 50_000 * time.Second
	usualSeeds    = 20
	usualFaults   = 5
)

// cells returns all rules for each number of members, in one world. Under the paper's rules a fleet is for hours not over a
// fault: it is left alone, but in a world in which nothing else goes wrong.
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

// papersFleets are those of the paper's two sizes.
func papersFleets(w world) []cell { return cells(w, study.Nominal, study.Overload) }

// changed returns cells with a change made to each.
func changed(all []cell, change func(*cell)) []cell {
	for i := range all {
		change(&all[i])
	}
	return all
}

// seedsOf returns how many seeds are to be run: in proportion, if somebody asks for fewer or more than usual.
func (c *cell) seedsOf(o study.Options) int {
	return max(1, c.seeds*o.SeedsOr(usualSeeds)/usualSeeds)
}

// How long it takes until everybody knows of a join, and of a crash or that the network is parted or whole again.
const (
	gossipAfter = time.Second
	detectAfter = 10 * time.Second
)

// scenario is the world of one run.
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

// settled is when a fleet has forgotten how it began, and measuring begins: after two laps, and no sooner than 5000 s. A random walk
// has seen everybody after N (ln N + 0.58) hops on average.
func (c *cell) settled() time.Duration {
	hops := float64(c.members)
	if c.rules.walk == wander.Random {
		hops *= math.Log(hops) + 1
	}
	return max(5000*time.Second, time.Duration(2*hops*float64(c.best().op)))
}

// best is what no schedule can beat that runs one operation at a time and leaves every member its min_interval.
type best struct {
	// op is how long an operation takes on average.
	op time.Duration
	// busy is the share of the time with an operation.
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

// label names a cell in a table.
func (c *cell) label() string { return fmt.Sprintf("%d, %s", c.members, c.rules.name) }
