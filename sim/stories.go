package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// Stories returns the stories that stand in the README.
func Stories() []Story {
	const late = policy.Time(8 * time.Second)
	return []Story{
		{
			Name:  "round",
			About: "the token goes round three members; one of them is due and runs its operation",
			World: storyWorld(Scenario{Members: 3}, nil),
			From:  late.Add(-time.Second),
			Turns: []Turn{
				{wander.NoteResting, 0},
				{handoff.NoteOffered, 0},
				{wander.NoteResting, 1},
				{handoff.NoteOffered, 1},
				{wander.NoteRan, 2},
				{handoff.NoteOffered, 2},
				{wander.NoteResting, 0},
			},
			Untold: 1, Dull: beatsOnly, Words: InWords(),
		},
		{
			Name:  "lost",
			About: "every Commit of a handoff is lost; the sender guards the token, asks for its holder, and revives it",
			World: storyWorld(Scenario{Members: 4, Backups: 2}, func(c *Cluster) { loseFirst(c, late) }),
			From:  late,
			Turns: []Turn{
				{guardian.NoteSuspected, 0},
				{handoff.NoteNoCommit, 1},
				{guardian.NoteSuspected, 2},
				{wander.NoteRevived, 2},
				{wander.NoteRan, 2},
			},
			Dull: beatsOnly, Words: InWords(),
		},
	}
}

// FindStory returns the story of that name. The error names those there are.
func FindStory(name string) (Story, error) {
	var names []string
	for _, s := range Stories() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Story{}, fmt.Errorf("no story is called %q: there are %s", name, strings.Join(names, " and "))
}

// storyWorld is members named in the order of their ranks, with a token in place; plan arranges what goes wrong, if anything does.
func storyWorld(s Scenario, plan func(*Cluster)) func(uint64, ...Watcher) *Cluster {
	s.Order, s.TokenInPlace = InOrder, true
	s.Skip, s.Op, s.MinInterval = time.Second, 2*time.Second, 10*time.Second
	s.Network = Network{Latency: 50 * time.Millisecond, Encode: true}
	s.Hook = Hook{Takes: 2 * time.Second, Spread: 0.5}
	return func(seed uint64, watchers ...Watcher) *Cluster {
		s.Seed = seed
		c := s.NewCluster(append(s.Checkers(), watchers...)...)
		if plan != nil {
			plan(c)
		}
		s.start(c)
		return c
	}
}

// loseFirst loses the token of the first handoff that ends after a time.
func loseFirst(c *Cluster, after policy.Time) {
	lost := false
	c.LoseToken(func() bool {
		first := !lost && c.Now() >= after
		lost = lost || first
		return first
	})
}

// beatsOnly reports whether nothing occurred but what does four times in a skip, wherever a guarded token is.
func beatsOnly(o *Occurrence) bool {
	switch {
	case o.Kind == Lost:
		return o.Msg.Kind == wire.KindBeat
	case o.Kind != Stepped:
		return false
	case o.Event.Kind == policy.Received && len(o.Effects) == 0:
		return o.Event.Msg.Kind == wire.KindBeat
	}
	other := func(e policy.Effect) bool { return e.Kind != policy.Send || e.Msg.Kind != wire.KindBeat }
	return o.Event.Kind == policy.Woke && !slices.ContainsFunc(o.Effects, other)
}
