package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// While a fleet is restarted with another number of slots, one member after the other, no member waits for much longer
// than a lap of one token of all members.
func TestNobodyStarvesWhileTheNumberOfSlotsChanges(t *testing.T) {
	const (
		members = 60
		op      = 8 * time.Second
		lap     = members * op
		every   = 30 * time.Second
	)
	for _, walk := range []wander.Walk{wander.Shuffle, wander.Sweep} {
		for _, change := range [][2]int{{4, 1}, {1, 4}, {2, 3}, {3, 2}} {
			var slots [members]int
			var last [members]policy.Time
			var longest time.Duration
			watch := watcherFunc(func(o *sim.Occurrence) {
				for i := range o.Effects {
					if o.Kind == sim.Stepped && o.Effects[i].Kind == policy.Run {
						longest = max(longest, o.At.Sub(last[o.Member]))
						last[o.Member] = o.At
					}
				}
			})
			c := sim.New(sim.Config{
				Seed: 7, Members: members, Network: sim.Network{Latency: time.Millisecond},
				Membership: sim.Membership{GossipAfter: time.Second, DetectAfter: 10 * time.Second},
				Hook:       sim.Hook{Takes: op}, StopTimeout: 30 * time.Second, Watchers: []sim.Watcher{watch},
				Machine: func(env sim.Env) policy.Machine {
					own := policy.Env{Gate: env.Gate, Self: env.Self, WaitsAlone: true, Entropy: env.Entropy}
					settings := &wander.Settings{
						Skip: time.Second, MinInterval: 2 * time.Minute, Backups: 2, Walk: walk,
					}
					return wander.NewGate(wander.Config{Env: own, Settings: settings}, slots[env.Index])
				},
			})
			for i := range slots {
				slots[i] = change[0]
			}
			c.Boot()
			advance(t, c, time.Hour)
			longest = 0
			for i := range members {
				c.Leave(i)
				advance(t, c, every-10*time.Second)
				slots[i] = change[1]
				c.Start(i)
				advance(t, c, 10*time.Second)
			}
			during := longest
			advance(t, c, 2*lap)
			for _, at := range last {
				longest = max(longest, c.Now().Sub(at))
			}
			t.Logf("%v, %d slots become %d: the longest wait is %v, and afterwards %v", walk, change[0], change[1],
				during, longest)
			most := lap * 3 / 2
			if walk == wander.Shuffle {
				most = 2 * lap * 5 / 4
			}
			if longest > most {
				t.Errorf("%v, %d slots become %d: somebody waits for %v, want %v at most", walk, change[0], change[1],
					longest, most)
			}
		}
	}
}
