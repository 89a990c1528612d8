package wander_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/measure"
)

// crowd counts what a fleet without faults may do too often: tokens that are made, and operations at once. It also
// counts datagrams, and those about questions whether another member has seen a token.
type crowd struct {
	made, sent, asked int
	running           *measure.Concurrency
}

// Watch implements [sim.Watcher].
func (k *crowd) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	for e := range o.Did(policy.Tell) {
		if e.Note == wander.NoteCreated || e.Note == wander.NoteRegenerated {
			k.made++
		}
	}
	for e := range o.Did(policy.Send) {
		k.sent++
		if kind := e.Msg.Kind; kind == wander.KindInquiry || kind == wander.KindSeen || kind == wander.KindUnseen {
			k.asked++
		}
	}
	return k.running.Watch(c, o)
}

// overlap returns the share of the time with two operations at once or more, and how many were at once at most.
func (k *crowd) overlap(now policy.Time) (share float64, most int) {
	spent := k.running.Spent(now)
	for level, time := range spent {
		if level > 1 && time > 0 {
			share += float64(time) / float64(now)
			most = level
		}
	}
	return share, max(most, 1)
}

// Whatever the members believe about the duration of their operation, a fleet that has just begun keeps its one token,
// although most of its members do not meet it for many times max_interval.
func TestTheFirstLapHasOneToken(t *testing.T) {
	for _, tc := range []struct {
		members     int
		maxInterval time.Duration
		lasts       time.Duration
	}{
		{members: 40, maxInterval: 6 * time.Minute, lasts: 24 * time.Hour},
		{members: 200, lasts: 72 * time.Hour},
		{members: 400, lasts: 72 * time.Hour},
		{members: 1000, maxInterval: 6 * time.Minute, lasts: 12 * time.Hour},
		{members: 10_000, maxInterval: 10 * time.Minute, lasts: time.Hour},
	} {
		for _, walk := range wander.Walks() {
			if tc.members > 200 && !deep.Night() || walk != wander.Sweep && !deep.Is() {
				continue
			}
			t.Run(fmt.Sprintf("%d, %v, %v", tc.members, walk, tc.maxInterval), func(t *testing.T) {
				s := wandering.Scenario{
					Seed: 1, Members: tc.members, Skip: time.Second, Op: 4 * time.Second, MinInterval: 2 * time.Minute,
					MaxInterval: tc.maxInterval, Walk: walk,
					Backups: 2, Network: sim.Network{Latency: time.Millisecond},
					Membership: sim.Membership{
						GossipAfter: time.Second, DetectAfter: 10 * time.Second, RejoinAfter: 10 * time.Second,
					},
					Hook: sim.Hook{Takes: 10 * time.Minute},
				}
				k := &crowd{running: measure.NewConcurrency()}
				c := s.NewCluster(k)
				c.Boot()
				advance(t, c, tc.lasts)
				overlap, most := k.overlap(c.Now())
				t.Logf("%d tokens made, %d operations at once, for %.2f %% of the time, %.1f datagrams a second; %d "+
					"questions and answers",
					k.made, most, 100*overlap, float64(k.sent)/tc.lasts.Seconds(), k.asked)
				if k.made != 1 || overlap > 0 {
					t.Error("want one token, and one operation at once")
				}
			})
		}
	}
}

// This also holds where three in ten datagrams are lost: no needless tokens are made, and guardians do not revive the
// token of a member that runs.
func TestWhereThreeInTenDatagramsAreLostTheFirstLapHasOneToken(t *testing.T) {
	for _, members := range []int{30, 100} {
		s := wandering.Scenario{
			Seed: 1, Members: members, Skip: time.Second, Op: 4 * time.Second, MinInterval: 2 * time.Minute,
			MaxInterval: 6 * time.Minute, Walk: wander.Sweep,
			Backups: 2, Network: sim.Network{Latency: time.Millisecond, Loss: 0.3},
			Membership: sim.Membership{
				GossipAfter: time.Second, DetectAfter: 10 * time.Second, RejoinAfter: 10 * time.Second,
			},
			Hook: sim.Hook{Takes: 10 * time.Minute},
		}
		k := &crowd{running: measure.NewConcurrency()}
		c := s.NewCluster(k)
		c.Boot()
		advance(t, c, 72*time.Hour)
		overlap, most := k.overlap(c.Now())
		t.Logf("%d members: %d tokens made, %d operations at once, for %.2f %% of the time", members, k.made, most,
			100*overlap)
		if k.made > 3 || overlap > 0.01 {
			t.Errorf("%d members: want three tokens, and an overlap of 1 %%, at most", members)
		}
	}
}

// At any size, a token that is really lost is replaced soon after max_interval if the others cannot know that: its
// holder and its guardians are restarted at once, and their membership does not notice. In a fleet of 10,000, members
// give way to each other for a minute or so.
func TestALostTokenIsReplacedSoonInALargeFleetToo(t *testing.T) {
	for _, members := range []int{40, 1000, 10_000} {
		if members > 1000 && !deep.Night() {
			continue
		}
		s := wandering.Scenario{
			Seed: 1, Members: members, Skip: time.Second, Op: 4 * time.Second, MinInterval: 2 * time.Minute,
			MaxInterval: 10 * time.Minute, Walk: wander.Sweep,
			Backups: 2, Network: sim.Network{Latency: 20 * time.Millisecond},
			Membership: sim.Membership{
				GossipAfter: time.Second, DetectAfter: 10 * time.Second, RejoinAfter: 10 * time.Second,
			},
			Hook: sim.Hook{Takes: 5 * time.Second},
		}
		k := &crowd{running: measure.NewConcurrency()}
		c := s.NewCluster(k)
		c.Boot()
		advance(t, c, time.Minute)
		for i := range members {
			if d := wandering.Detail(c, i); d.Holding || d.Keeps {
				c.Crash(i)
				c.Start(i)
			}
		}
		lost, began := k.made, c.Now()
		for k.made == lost && c.Now().Sub(began) < time.Hour {
			advance(t, c, time.Second)
		}
		took := c.Now().Sub(began)
		advance(t, c, 2*time.Minute)
		t.Logf("%d members: a token is made after %v, and %d in all", members, took, k.made-lost)
		if took > s.MaxInterval+4*time.Minute || k.made-lost > 2 {
			t.Errorf("%d members: want one within four minutes of max_interval", members)
		}
	}
}
