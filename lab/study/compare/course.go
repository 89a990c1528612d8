package compare

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/measure"
)

// The demand on all contenders. Every member asks again after a time with mean members × op / load, counted from the
// end of its last run.
const (
	op     = 4 * time.Second
	spread = 0.1
	// A datagram takes latency, and up to jitter more.
	latency, jitter = 2 * time.Millisecond, 6 * time.Millisecond
	lasts           = time.Hour
	// rarely is the load at which a course lasts for longer, since few members ask. idle is the load of a fleet in
	// which nobody does.
	rarely, lastsRarely = 0.01, 4 * time.Hour
	idle                = 0.0
	// idleFor is for how long datagrams of an idle fleet are counted, and how long it lives before that.
	idleFor = 10 * time.Minute
	// crashes is how many members lose their power for good, each while its operation runs, spread evenly over the
	// time.
	crashes = 5
	loss    = 0.01
)

func sizes() []int     { return []int{10, 80, 150, 300, 1000} }
func loads() []float64 { return []float64{rarely, 0.1, 1, 2} }

// disturbed is the size of the fleets in which something goes wrong. A tree of a thousand sites that loses messages
// spends most of the time searching its queue by broadcasts, and takes minutes to simulate.
const disturbed = 150

type fault string

const (
	noFault   fault = "no faults"
	ofCrashes fault = "crashes"
	ofLoss    fault = "1 % loss"
)

// course is one run of a contender.
type course struct {
	contender contender
	members   int
	load      float64
	fault     fault
}

func courses() []course {
	var all []course
	for _, c := range contenders() {
		for _, load := range loads() {
			for _, n := range sizes() {
				all = append(all, course{c, n, load, noFault})
			}
			if load > rarely {
				all = append(all, course{c, disturbed, load, ofCrashes}, course{c, disturbed, load, ofLoss})
			}
		}
		for _, n := range sizes() {
			all = append(all, course{c, n, idle, noFault})
		}
	}
	return all
}

// lasts returns how long the run takes.
func (c *course) lasts() time.Duration {
	if c.load == rarely {
		return lastsRarely
	}
	return lasts
}

// demand returns when members ask.
func (c *course) demand() sim.Demand {
	if c.load == idle {
		return sim.Demand{}
	}
	return sim.Demand{Every: time.Duration(float64(c.members) * float64(op) / c.load)}
}

// outcome is the result of a run.
type outcome struct {
	measure.Served
	// recoveries are the times from each crash of a member at work until the next run began, in seconds.
	recoveries []float64
	// idle is the number of datagrams a minute, if nobody asks.
	idle float64
}

// messagesPerRun returns the number of datagrams for each run. It is NaN if there was no run.
func (o *outcome) messagesPerRun() float64 { return float64(o.Datagrams) / float64(o.Runs) }

func live(ctx context.Context, c *course, seed uint64) (outcome, error) {
	service, attack := measure.NewService(c.members), &attack{
		dice: rand.New(rand.NewPCG(seed, 0x636f6d70)), begun: policy.Never,
	}
	cfg := sim.Config{
		Seed: seed, Members: c.members, Descriptor: c.contender.descriptor,
		Machine: c.contender.fleet(sim.Roster(sim.Shuffled, seed, c.members)),
		Network: sim.Network{Latency: latency, Jitter: jitter}, Membership: sim.MeasuredMembership(c.members),
		Hook:     sim.Hook{Takes: op, Spread: spread},
		Demand:   c.demand(),
		Watchers: []sim.Watcher{service, attack},
	}
	if c.fault == ofLoss {
		cfg.Network.Loss = loss
	}
	cluster := sim.New(cfg)
	if c.fault == ofCrashes {
		for i := range crashes {
			cluster.At(policy.Time(c.lasts()*time.Duration(i+1)/(crashes+1)), attack.arm)
		}
	}
	cluster.Boot()
	if c.load == idle { // What is sent before there is a token is not counted.
		begun, err := cluster.RunFor(ctx, policy.Time(idleFor), nil)
		if err != nil {
			return outcome{}, err
		}
		before := service.Served(begun).Datagrams
		reached, err := cluster.RunFor(ctx, policy.Time(2*idleFor), nil)
		after := service.Served(reached).Datagrams
		return outcome{idle: float64(after-before) / reached.Sub(begun).Minutes()}, err
	}
	reached, err := cluster.RunFor(ctx, policy.Time(c.lasts()), nil)
	return outcome{Served: service.Served(reached), recoveries: attack.recoveries}, err
}

// attack cuts the power of members at work. It implements [sim.Watcher].
type attack struct {
	dice  *rand.Rand
	armed bool
	// begun is when the last crash happened. It is never if there has been a run since.
	begun      policy.Time
	recoveries []float64
}

// arm makes the next member that runs crash during that run.
func (a *attack) arm() { a.armed = true }

// Watch lets the armed crash happen, and waits for the next run.
func (a *attack) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	for range o.Did(policy.Run) {
		if a.begun != policy.Never {
			a.recoveries = append(a.recoveries, o.At.Sub(a.begun).Seconds())
			a.begun = policy.Never
		}
		if a.armed {
			a.armed = false
			member := o.Member
			c.After(time.Duration(a.dice.Float64()*float64(op)*(1-spread)), func() {
				c.PowerCut(member)
				a.begun = c.Now()
			})
		}
	}
	return nil
}

// longest returns the longest recovery. It is NaN if there was none.
func longest(of []float64) float64 {
	if len(of) == 0 {
		return math.NaN()
	}
	return slices.Max(of)
}
