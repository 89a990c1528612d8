package compare

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// contender is a protocol with its settings.
type contender struct {
	name       string
	descriptor policy.Descriptor
	// inLosses is true if the experiment with losses has it, guarded if its token has guardians.
	inLosses, guarded bool
	// fleet returns a function that makes the machines of the members of a roster.
	fleet func(roster []wire.MemberID) func(sim.Env) policy.Machine
}

// Further constants of the protocols.
const (
	skip    = time.Second
	backups = 2
	// suspectAfter is how long a site of the tree waits for a COMMIT, and how often it asks its predecessor: InterT of
	// the paper. The other constants are as in the paper, too.
	suspectAfter = 3950 * time.Millisecond
	searchFor    = 1480 * time.Millisecond
	answerWithin = 148 * time.Millisecond
	ringTimeout  = time.Second
)

func contenders() []contender {
	all := []contender{
		wandering("wander, sweep", wander.Sweep, backups), wandering("wander, shuffle", wander.Shuffle, backups),
		wandering("wander, random", wander.Random, backups), wandering("wander, sweep, no guardians", wander.Sweep, 0),
		called("call"),
		round("ring, always", ring.Always), round("ring, martin", ring.Martin), round("ring, q", ring.Q),
		round("ring, d", ring.D),
		branching("tree, fair", tree.Fair), branching("tree, baseline", tree.Baseline),
	}
	for i := range all {
		c := &all[i]
		c.guarded = c.name == "wander, sweep" || c.name == "call"
		c.inLosses = c.guarded || c.name == "ring, q" || c.name == "tree, fair"
	}
	return all
}

func wandering(name string, walk wander.Walk, guardians int) contender {
	return contender{
		name: name, descriptor: wander.Descriptor(),
		fleet: func([]wire.MemberID) func(sim.Env) policy.Machine {
			laps, settings := new(wander.Laps), &wander.Settings{Skip: skip, Op: op, Walk: walk, Backups: guardians}
			return func(env sim.Env) policy.Machine {
				env.OnDemand = true
				return wander.New(wander.Config{Env: env.Env, Settings: settings, Laps: laps})
			}
		},
	}
}

// called is the soft gate on call.
func called(name string) contender {
	return contender{
		name: name, descriptor: call.Descriptor(),
		fleet: func([]wire.MemberID) func(sim.Env) policy.Machine {
			settings := &call.Settings{Skip: skip, Backups: backups}
			return func(env sim.Env) policy.Machine {
				env.OnDemand = true
				return call.New(call.Config{Env: env.Env, Settings: settings})
			}
		},
	}
}

func round(name string, request ring.Request) contender {
	return contender{
		name: name, descriptor: ring.Descriptor(),
		fleet: func(roster []wire.MemberID) func(sim.Env) policy.Machine {
			return func(env sim.Env) policy.Machine {
				return ring.New(ring.Config{
					Gate: env.Gate, Self: env.Self, Members: roster, Request: request, Links: ring.UDP,
					Backups: backups,
					Timeout: ringTimeout,
					Rejoins: env.Rejoins, Entropy: env.Entropy,
				})
			}
		},
	}
}

func branching(name string, recovery tree.Recovery) contender {
	return contender{
		name: name, descriptor: tree.Descriptor(),
		fleet: func(roster []wire.MemberID) func(sim.Env) policy.Machine {
			return func(env sim.Env) policy.Machine {
				return tree.New(tree.Config{
					Gate: env.Gate, Self: env.Self, Roster: roster, Backups: backups, Recovery: recovery,
					Links:   tree.UDP,
					Entropy: env.Entropy,
					Timers: tree.Timers{
						Commit: suspectAfter, Token: suspectAfter, Reconnection: searchFor, Liveness: answerWithin,
					},
				})
			}
		},
	}
}
