package call

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/trace"
)

// The members of an excerpt. Two are the homes, one of them the first.
const (
	caller = iota
	firstHome
	holder
	secondHome
	playing
)

const (
	// excerptBegins is when the caller of an excerpt comes. The token rests at the holder by then.
	excerptBegins  = policy.Time(40 * time.Second)
	excerptLatency = 10 * time.Millisecond
)

// Excerpts returns the excerpts of runs that the docs show.
func Excerpts() []trace.Excerpt {
	return []trace.Excerpt{
		{
			Name: "call",
			About: "a member calls its first home, b, and the token comes from c, where it rested; " +
				"b and d are the homes",
			World: excerptWorld(func(*sim.Cluster) {}),
			From:  excerptBegins,
			Turns: []trace.Turn{{Note: handoff.NoteOffered, Role: 0}, {Note: call.NoteRan, Role: 1}},
			After: 2 * excerptLatency, Words: Words(),
		},
		{
			Name: "silent",
			About: "the member at which the token rests has lost its power, and nobody knows; the next call finds it " +
				"out, and a home revives the token",
			World: excerptWorld(func(c *sim.Cluster) { c.PowerCut(holder) }),
			From:  excerptBegins,
			Turns: []trace.Turn{
				{Note: guardian.NoteSuspected, Role: 0},
				{Note: call.NoteRevived, Role: 0},
				{Note: call.NoteRan, Role: 1},
			},
			Dull: inVain, Words: Words(),
		},
	}
}

// excerptWorld makes worlds in which the token rests at the holder, and b and d are the homes. Just before the caller
// comes, plan arranges faults.
func excerptWorld(plan func(*sim.Cluster)) func(uint64, ...sim.Watcher) *sim.Cluster {
	s := Scenario{
		Members: playing, Skip: time.Second, Op: 2 * time.Second, Backups: 2, OnDemand: true,
		Network: sim.Network{Latency: excerptLatency, Encode: true}, Hook: sim.Hook{Takes: 2 * time.Second},
		Membership: sim.MeasuredMembership(playing),
	}
	world := func(watchers ...sim.Watcher) *sim.Cluster {
		c := s.NewCluster(append(s.checkers(), watchers...)...)
		c.At(excerptBegins/2, func() { c.Want(holder) })
		c.At(excerptBegins-1, func() { plan(c) })
		c.At(excerptBegins, func() { c.Want(caller) })
		s.start(c)
		return c
	}
	return func(seed uint64, watchers ...sim.Watcher) *sim.Cluster {
		for s.Seed = seed << 32; ; s.Seed++ {
			if c := world(); c.Run(excerptBegins-2) == nil && hasHomes(c) {
				return world(watchers...)
			}
		}
	}
}

// hasHomes reports whether the holder's guardians are the homes of an excerpt.
func hasHomes(c *sim.Cluster) bool {
	var homes []int
	for _, f := range c.Machine(holder).Facts(c.Now(), nil) {
		if f.Key == policy.KeyGuardian {
			homes = append(homes, sim.IndexOf(f.Member))
		}
	}
	return len(homes) == 2 && homes[0] == firstHome && homes[1] == secondHome
}

// inVain reports whether a dead holder is only asked again.
func inVain(o *sim.Occurrence) bool {
	switch {
	case o.Kind == sim.Lost:
		return o.Msg.Kind == guardian.KindAsk
	case o.Kind != sim.Stepped || o.Event.Kind != policy.Woke:
		return false
	}
	other := func(e policy.Effect) bool { return e.Kind != policy.Send || e.Msg.Kind != guardian.KindAsk }
	return !slices.ContainsFunc(o.Effects, other)
}
