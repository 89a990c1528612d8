package policy_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// A shell in twenty lines: it gives a machine its events, and carries out what it wants. This member of a soft gate is
// alone, so it makes a token, and runs its operation. Saves are durable at once here, and an operation takes two
// seconds.
func Example() {
	self := wire.MemberID{1}
	settings := wander.Settings{Skip: time.Second, Op: 2 * time.Second, MinInterval: time.Minute, Backups: 2}
	m := settings.Machine(policy.Env{Gate: wire.GateIDOf("default"), Self: self, Entropy: rand.NewPCG(1, 2)})

	var now policy.Instant
	step := func(ev policy.Event) {
		for events := []policy.Event{ev}; len(events) > 0; events = events[1:] {
			for _, e := range m.Step(now, &events[0], nil) {
				switch e.Kind {
				case policy.Save:
					events = append(events, policy.Event{Kind: policy.Saved})
				case policy.Run:
					fmt.Printf("%v: run %d\n", time.Duration(now.Time), e.Token.Seq)
					now.Time = now.Time.Add(2 * time.Second)
					events = append(events, policy.Event{Kind: policy.Finished})
				case policy.Took:
					fmt.Printf("%v: holds a token\n", time.Duration(now.Time))
				case policy.Send, policy.Announce, policy.Proclaim, policy.PreSign, policy.Extend, policy.Stop,
					policy.Gave, policy.Gone, policy.Tell: // no other member is there, and no one reads notes
				}
			}
		}
	}
	step(policy.Event{Kind: policy.Started})
	step(policy.Event{Kind: policy.PeersChanged, Peers: []wire.MemberID{self}})
	for {
		at, ok := m.NextWake()
		if !ok || at > policy.Time(2*time.Minute) {
			break
		}
		now.Time = max(now.Time, at)
		step(policy.Event{Kind: policy.Woke})
	}
	// Output:
	// 0s: holds a token
	// 0s: run 1
	// 1m0s: run 2
	// 2m0s: run 3
}
