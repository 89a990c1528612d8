package wander

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// distantFleet is a fleet with the default constants, some of whose members are further away than a handoff's timeout.
func distantFleet(members int, skip time.Duration, n sim.Network) *Scenario {
	n.Latency = time.Millisecond
	return &Scenario{
		Seed: 1, Members: members, Skip: skip, Op: 5 * time.Second, MinInterval: 10 * time.Minute, MeasureOp: true,
		WaitAlone: true,
		Network:   n, Membership: sim.Membership{
			GossipAfter: time.Second, DetectAfter: 5 * time.Second, RejoinAfter: 5 * time.Second,
		},
		Hook: sim.Hook{Takes: 5 * time.Second}, Duration: 3 * time.Hour,
	}
}

// A member that is further away than the others has its turn in every lap, as they have, with every walk, and with
// guardians or without. Answers of other partners do not lower the patience with one partner: after a quarter of the
// time all members know how far away the others are, and no offer fails.
func TestADistantMemberHasItsTurnInEachLap(t *testing.T) {
	for _, tc := range []struct {
		members int
		skip    time.Duration
		network sim.Network
	}{
		{3, time.Second, sim.Network{Distant: 1, Away: 550 * time.Millisecond}},
		{5, time.Second, sim.Network{Distant: 1, Away: 1050 * time.Millisecond}},
		{3, 250 * time.Millisecond, sim.Network{Distant: 1, Away: 265 * time.Millisecond}},
		{5, time.Second, sim.Network{Distant: 3, Away: 4 * time.Second, Together: true}},
		{5, time.Second, sim.Network{Distant: 2, Away: time.Second}},
		{40, time.Second, sim.Network{Distant: 20, Away: 2 * time.Second, Together: true}},
		{30, time.Second, sim.Network{Distant: 12, Away: time.Second}},
	} {
		if !deep.Is() && tc.members > 5 {
			continue
		}
		for _, walk := range wander.Walks() {
			for _, backups := range []int{0, 2} {
				if !deep.Night() && (backups == 0 || walk == wander.Shuffle) {
					continue
				}
				name := fmt.Sprintf("%d of %d members %v away (skip %v), %v, %d guardians",
					tc.network.Distant, tc.members, tc.network.Away, tc.skip, walk, backups)
				t.Run(name, func(t *testing.T) {
					s := distantFleet(tc.members, tc.skip, tc.network)
					if !deep.Is() {
						s.Duration /= 3
					}
					s.Walk, s.Backups = walk, backups
					k := live(t, s, func(c *sim.Cluster, k *tally) { c.After(s.Duration/4, k.forget) })
					t.Logf("runs %v, offers that failed %d, revived %d", k.runs, k.notes[handoff.NoteNoAck],
						k.notes[wander.NoteRevived])
					least, most := slices.Min(k.runs), slices.Max(k.runs)
					if bound := most - max(1, most/3); least < bound {
						t.Errorf("one ran %d times, another %d times", least, most)
					}
					// Here more members are distant than a member remembers, so an offer fails now and then.
					few := 0
					if tc.network.Distant > 8 {
						few = tc.members / 10
					}
					if failed := k.notes[handoff.NoteNoAck]; failed > few {
						t.Errorf("%d offers failed", failed)
					}
					if k.notes[handoff.NoteSlowNetwork] == 0 {
						t.Error("nobody says that skip is too short")
					}
				})
			}
		}
	}
}
