package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// A fleet with one slot is restarted with two, one member after the other, every constant at its default. The second
// token comes as the first one does when a fleet is switched on. No token too many comes: a restart where there are two
// slots already makes no token.
func TestASecondSlotHasATokenSecondsAfterTheRestarts(t *testing.T) {
	const members = 10
	for _, walk := range wander.Walks() {
		slots, made := [members]int{}, 0
		for i := range slots {
			slots[i] = 1
		}
		count := watcherFunc(func(o *sim.Occurrence) {
			for i := range o.Effects {
				if n := o.Effects[i].Note; o.Kind == sim.Stepped &&
					(n == wander.NoteCreated || n == wander.NoteRegenerated) {
					made++
				}
			}
		})
		c := sim.New(sim.Config{
			Seed: 7, Members: members, Network: sim.Network{Latency: time.Millisecond},
			Membership: sim.Membership{GossipAfter: time.Second, DetectAfter: 10 * time.Second},
			Hook:       sim.Hook{Takes: 4 * time.Second}, StopTimeout: 30 * time.Second, Watchers: []sim.Watcher{count},
			Machine: func(env sim.Env) policy.Machine {
				own := policy.Env{Gate: env.Gate, Self: env.Self, WaitsAlone: true, Entropy: env.Entropy}
				settings := &wander.Settings{Skip: time.Second, MinInterval: 10 * time.Minute, Backups: 2, Walk: walk}
				return wander.NewGate(wander.Config{Env: own, Settings: settings}, slots[env.Index])
			},
		})
		c.Boot()
		advance(t, c, time.Hour)
		restart := func(i int) {
			c.Leave(i)
			advance(t, c, 20*time.Second)
			slots[i] = 2
			c.Start(i)
			advance(t, c, 10*time.Second)
		}
		for i := range members {
			restart(i)
		}
		held := func(slot int) bool {
			for i := range members {
				if c.SlotStatus(i, slot).Holding {
					return true
				}
			}
			return false
		}
		took := time.Duration(0)
		for ; !(held(0) && held(1)); took += time.Second {
			if took > 30*time.Second {
				t.Fatalf("%v: there is no second token %v after the last restart", walk, took)
			}
			advance(t, c, time.Second)
		}
		t.Logf("%v: %v after the last restart; %d were made", walk, took, made)
		advance(t, c, 2*time.Hour)
		made = 0
		for i := range members {
			restart(i)
		}
		advance(t, c, 2*time.Hour)
		if made > 0 {
			t.Errorf("%v: restarts made %d tokens where there were two", walk, made)
		}
	}
}

// watcherFunc is a watcher that never returns an error.
type watcherFunc func(o *sim.Occurrence)

func (f watcherFunc) Watch(_ *sim.Cluster, o *sim.Occurrence) error { f(o); return nil }
