package together

import (
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/holds"
	"github.com/wanderd/wanderd/sim"
)

// gate is one gate of a fleet: those hosts that have it are the members of its cluster.
type gate struct {
	name string
	// c is its cluster, hosts are the hosts of its members, and members are the members of the hosts; absent if a host
	// does not have the gate.
	c       *sim.Cluster
	hosts   []int
	members []int
	// onDemand is true if the gate has no operation of its own.
	onDemand bool
	// waiting are the jobs that wait for a grant on each host, in turn, and held is the job for which each host holds a
	// grant. deferrals are what puts the runs on each host off.
	waiting   [][]*job
	held      []*job
	deferrals []holds.Deferral
	// left is the job whose operation the agent of each host has left to the operation's guard.
	left []*job
}

const absent = -1

// host is one host.
type host struct {
	// life counts its starts, and up is true while its agent runs.
	life int
	up   bool
	// awayUntil is when its agent is back that is paused, or whose host sleeps; in the past if neither is.
	awayUntil policy.Time
	// since is when it has started, or ended; died is true if it has ended without having left the gate of the upgrade,
	// and lived is for how long it had been there before.
	since policy.Time
	died  bool
	lived time.Duration
}

// world is a fleet at one moment of virtual time.
type world struct {
	s     *Scenario
	gates []*gate
	hosts []host
	now   policy.Time
	// tell is told what becomes of a job; nil if nobody wants to know.
	tell func(j *job, what string)
	// todo is what follows from what has just happened in a cluster. It is done when that cluster stands still.
	todo []func()
	dice *rand.Rand
	// parted counts what parts the network now, and wholeAt is since when nothing does.
	parted  int
	wholeAt policy.Time
	// healed is when all faults were over; zero before that.
	healed policy.Time
	rules  rules
	err    error
}

// newWorld makes the world of a scenario. No host has started.
func newWorld(s *Scenario) *world {
	w := &world{
		s: s, hosts: make([]host, s.Hosts), dice: rand.New(rand.NewPCG(s.Seed, sim.Mix(worldLabel))),
	}
	w.rules.w = w
	for i, g := range s.gates() {
		made := &gate{
			name: g.name, hosts: g.hosts, onDemand: g.onDemand, members: make([]int, s.Hosts),
			waiting: make([][]*job, s.Hosts), held: make([]*job, s.Hosts), deferrals: make([]holds.Deferral, s.Hosts),
			left: make([]*job, s.Hosts),
		}
		for h := range made.members {
			made.members[h] = absent
		}
		for member, h := range g.hosts {
			made.members[h] = member
		}
		made.c = s.cluster(i, &g, w.watches(made))
		w.gates = append(w.gates, made)
	}
	return w
}

// watches notes what the shell of a run that holds several gates is told.
func (w *world) watches(g *gate) sim.Watcher {
	return sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		h := g.hosts[o.Member]
		switch {
		case o.Kind == sim.Departed:
			w.todo = append(w.todo, func() { w.departed(g, h) })
		case o.Kind == sim.RunGone && g.left[h] != nil:
			g.left[h].state = over
			g.left[h] = nil
		case o.Kind == sim.Crashed:
			if j := g.held[h]; o.Outlived && j != nil && j.first == g && j.state == operates {
				j.state, g.left[h] = orphaned, j
			}
			if me := &w.hosts[h]; g == w.gates[0] {
				me.died, me.lived, me.since = true, w.now.Sub(max(me.since, me.awayUntil)), w.now
			}
			w.todo = append(w.todo, func() { w.dies(h, false) }) // It has not left in time.
		}
		if o.Kind != sim.Stepped {
			return nil
		}
		if o.Event.Kind == policy.Directed && o.Event.Directive.Until == 0 && g == w.gates[0] {
			w.rules.last.resumed = o.At
		}
		if o.Event.Kind == policy.Finished {
			denied, failed := o.Event.Denied, o.Event.Outcome != policy.Succeeded
			w.todo = append(w.todo, func() { w.finished(g, h, denied, failed) })
		}
		for i := range o.Effects {
			switch o.Effects[i].Kind {
			case policy.Run:
				w.todo = append(w.todo, func() { w.ran(g, h) })
			case policy.Stop:
				w.todo = append(w.todo, func() { w.lost(g, h) })
			case policy.Send, policy.Extend, policy.PreSign, policy.Save, policy.Announce, policy.Proclaim,
				policy.Took, policy.Gave, policy.Gone, policy.Tell:
			}
		}
		return nil
	})
}

// run lets time pass until the given moment.
func (w *world) run(until policy.Time) error {
	w.settle()
	for w.err == nil {
		var first *gate
		at := policy.Never
		for _, g := range w.gates {
			if next := g.c.NextAt(); next < at {
				first, at = g, next
			}
		}
		if at > until {
			break
		}
		w.now = at
		w.standsAt(first)
		w.settle()
	}
	if w.err != nil {
		return w.err
	}
	w.now = until
	for _, g := range w.gates {
		w.standsAt(g)
	}
	w.settle()
	return w.err
}

// standsAt lets the time of a gate pass until now, and returns its cluster.
func (w *world) standsAt(g *gate) *sim.Cluster {
	if err := g.c.Run(w.now); err != nil && w.err == nil {
		w.err = err
	}
	return g.c
}

func (w *world) settle() {
	for len(w.todo) > 0 && w.err == nil {
		do := w.todo[0]
		w.todo = w.todo[1:]
		do()
	}
}

// after calls do later, if the host is in the same life then, and not before its agent is back.
func (w *world) after(h int, d time.Duration, do func()) {
	life := w.hosts[h].life
	w.standsAt(w.gates[0]).After(d, func() {
		w.todo = append(w.todo, func() {
			switch {
			case w.hosts[h].life != life:
			case w.isAway(h):
				w.after(h, w.hosts[h].awayUntil.Sub(w.now), do)
			default:
				do()
			}
		})
	})
}

// later calls do later, whatever has become of the hosts.
func (w *world) later(d time.Duration, do func()) {
	w.standsAt(w.gates[0]).After(d, func() { w.todo = append(w.todo, do) })
}

// isAway reports whether the agent of a host is paused, or its host sleeps.
func (w *world) isAway(h int) bool { return w.hosts[h].awayUntil > w.now }

// pause lets the agent of a host stand still for a while, or its whole host sleep.
func (w *world) pause(h int, d time.Duration, asleep bool) {
	if d <= 0 || !w.hosts[h].up || w.isAway(h) {
		return
	}
	w.hosts[h].awayUntil = w.now.Add(d)
	stand := (*sim.Cluster).Pause
	if asleep {
		stand = (*sim.Cluster).Sleep
	}
	w.each(h, func(c *sim.Cluster, m int) { stand(c, m, d) })
}

// each does something to the member of each gate that a host has.
func (w *world) each(h int, do func(c *sim.Cluster, m int)) {
	for _, g := range w.gates {
		if m := g.members[h]; m != absent {
			do(w.standsAt(g), m)
		}
	}
}

// part parts the network of the hosts in two, for all gates.
func (w *world) part(second []bool, oneWay bool) {
	for _, g := range w.gates {
		var sides []bool
		for _, h := range g.hosts {
			sides = append(sides, second[h])
		}
		w.standsAt(g).Part(sides, oneWay)
	}
	w.parted++
}

// heal makes the network of the hosts whole.
func (w *world) heal() {
	for _, g := range w.gates {
		w.standsAt(g).Heal()
	}
	w.isWhole()
}

// isWhole notes that one thing less parts the network.
func (w *world) isWhole() {
	w.parted--
	w.wholeAt = w.now
}

// boot starts all hosts at once.
func (w *world) boot() {
	for h := range w.hosts {
		w.hosts[h].up = true
	}
	for _, g := range w.gates {
		g.c.Boot()
	}
	w.settle()
}

// crash ends the agent of a host or, if its power is cut, everything that runs there.
func (w *world) crash(h int, power bool) {
	if w.hosts[h].up {
		w.hosts[h] = host{life: w.hosts[h].life + 1, since: max(w.hosts[h].since, w.hosts[h].awayUntil)}
		w.dies(h, power)
	}
}

// dies ends what a crash ends. The guard of an operation that outlives its agent ends it, and speaks for the gate of
// the run, but not for the others that it held.
func (w *world) dies(h int, power bool) {
	w.hosts[h].up = false
	for _, g := range w.gates {
		if g.members[h] == absent {
			continue
		}
		j := g.held[h]
		if !power && j != nil && j.first == g && j.state == operates {
			w.standsAt(g).Crash(g.members[h])
		} else {
			w.standsAt(g).PowerCut(g.members[h])
		}
	}
	for _, g := range w.gates {
		if j := g.held[h]; j != nil && j.state != orphaned {
			j.state = over
		}
		g.held[h], g.waiting[h], g.deferrals[h] = nil, nil, holds.Deferral{}
	}
}

// leave lets the agent of a host, which is not away, stop in good order.
func (w *world) leave(h int) {
	for _, g := range w.gates {
		if g.members[h] != absent && w.hosts[h].up {
			w.standsAt(g).Leave(g.members[h])
		}
	}
}

// start starts the agent of a host, once nothing of its last life is left.
func (w *world) start(h int) {
	for _, g := range w.gates {
		if m := g.members[h]; m != absent && w.standsAt(g).Up(m) {
			w.after(h, time.Second, func() { w.start(h) })
			return
		}
	}
	w.hosts[h] = host{life: w.hosts[h].life + 1, up: true, since: w.now}
	for _, g := range w.gates {
		if m := g.members[h]; m != absent {
			w.standsAt(g).PutOff(m, false)
			g.c.Start(m)
		}
	}
}

// gateNamed returns a gate of a host; nil if it does not have one with that name.
func (w *world) gateNamed(h int, name string) *gate {
	for _, g := range w.gates {
		if g.name == name && g.members[h] != absent {
			return g
		}
	}
	return nil
}
