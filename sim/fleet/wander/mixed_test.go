package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// While half of a fleet has been restarted with two slots, no member is worse off than with one slot: as many members
// run, and none waits for longer than two laps of all members under one token. On a random walk there is no such bound,
// with one slot or two.
func TestAFleetOfWhichHalfHasAnotherSlotDoesNoWorse(t *testing.T) {
	deep.AtNight(t, "days of a fleet")
	const (
		members = 12
		op      = time.Minute
		lasts   = 50 * time.Hour
	)
	for _, walk := range []wander.Walk{wander.Shuffle, wander.Sweep} {
		var last [members]policy.Time
		var longest time.Duration
		runs := 0
		watch := watcherFunc(func(o *sim.Occurrence) {
			for i := range o.Effects {
				if o.Kind == sim.Stepped && o.Effects[i].Kind == policy.Run {
					runs++
					longest = max(longest, o.At.Sub(last[o.Member]))
					last[o.Member] = o.At
				}
			}
		})
		c := sim.New(sim.Config{
			Seed: 7, Members: members, Network: sim.Network{Latency: time.Millisecond},
			Membership: sim.Membership{GossipAfter: time.Second, DetectAfter: 10 * time.Second},
			Hook:       sim.Hook{Takes: op}, Watchers: []sim.Watcher{watch},
			Machine: func(env sim.Env) policy.Machine {
				own := policy.Env{Gate: env.Gate, Self: env.Self, WaitsAlone: true, Entropy: env.Entropy}
				settings := &wander.Settings{Skip: time.Second, MinInterval: 5 * time.Minute, Backups: 2, Walk: walk}
				return wander.NewGate(wander.Config{Env: own, Settings: settings}, 1+env.Index%2)
			},
		})
		c.Boot()
		advance(t, c, lasts)
		for _, at := range last {
			longest = max(longest, c.Now().Sub(at))
		}
		t.Logf("%v: %d runs, longest wait %v", walk, runs, longest)
		if least := int(lasts / op); runs < least*95/100 {
			t.Errorf("%v: %d runs, want %d at least, as with one slot", walk, runs, least)
		}
		if most := 2 * members * (op + 2*time.Second); longest > most {
			t.Errorf("%v: somebody waited for %v, want %v at most", walk, longest, most)
		}
	}
}
