package sim

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// Story is a situation worth telling. Chance has a part in it: it is told of the least seed that leads to it, so that it stays
// the same situation when a rule of the protocol changes.
type Story struct {
	// Name is by which it is asked for, About what it shows.
	Name, About string
	world       Scenario
	// plan arranges what goes wrong; nil if nothing does.
	plan func(*Cluster)
	// The story is told from a time on, until plot is complete.
	from policy.Time
	plot plot
}

// Stories returns the stories that stand in the README.
func Stories() []Story {
	const late = policy.Time(8 * time.Second)
	guarded := storyWorld()
	guarded.Members, guarded.Backups = 4, 2
	return []Story{
		{
			Name:  "round",
			About: "the token goes round three members; one of them is due and runs its operation",
			world: storyWorld(),
			from:  late.Add(-time.Second),
			plot: plot{untold: 1, turns: []turn{
				{wander.NoteResting, 0},
				{handoff.NoteOffered, 0},
				{wander.NoteResting, 1},
				{handoff.NoteOffered, 1},
				{wander.NoteRan, 2},
				{handoff.NoteOffered, 2},
				{wander.NoteResting, 0},
			}},
		},
		{
			Name:  "lost",
			About: "every Commit of a handoff is lost; the sender guards the token, asks for its holder, and revives it",
			world: guarded,
			plan:  func(c *Cluster) { loseFirst(c, late) },
			from:  late,
			plot: plot{turns: []turn{
				{guardian.NoteSuspected, 0},
				{handoff.NoteNoCommit, 1},
				{guardian.NoteSuspected, 2},
				{wander.NoteRevived, 2},
				{wander.NoteRan, 2},
			}},
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

// storyWorld is three members, named in the order of their ranks, and a token in place that nobody guards.
func storyWorld() Scenario {
	return Scenario{
		Members: 3, Order: InOrder, TokenInPlace: true,
		Skip: time.Second, Op: 2 * time.Second, MinInterval: 10 * time.Second,
		Network: Network{Latency: 50 * time.Millisecond, Encode: true}, Hook: Hook{Takes: 2 * time.Second, Spread: 0.5},
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

// storySeeds and storyTime are how long to look for a run that leads to a story.
const (
	storySeeds = 2000
	storyTime  = policy.Time(2 * time.Minute)
)

// Tell writes the story to w. Every checker looks on.
func (s *Story) Tell(w io.Writer, f Format) error {
	for seed := range uint64(storySeeds) {
		s.world.Seed = seed + 1
		p := s.plot
		p.begin = s.from
		if err := s.run(storyTime, &excerpt{s.from, &p}); !p.complete() {
			if errors.Is(err, errOtherStory) {
				continue
			}
			return err
		}
		return s.run(p.end, &excerpt{p.begin, NewTeller(w, f)})
	}
	return fmt.Errorf("no seed up to %d leads to the story %q", storySeeds, s.Name)
}

func (s *Story) run(until policy.Time, w Watcher) error {
	c := s.world.NewCluster(append(s.world.Checkers(), w)...)
	if s.plan != nil {
		s.plan(c)
	}
	s.world.start(c)
	return c.Run(until)
}

// plot is the turns that a story takes, and no others of their kinds.
type plot struct {
	turns []turn
	// untold is how many turns only lead to the story.
	untold int
	// taken counts the turns so far; cast is who plays which role.
	taken int
	cast  []int
	// begin and end are when the first turn was taken that is told, and the last.
	begin, end policy.Time
}

// turn is a note of a member in one of the roles 0, 1, 2… Each role is played by another member, and begins in its order.
type turn struct {
	note policy.Note
	role int
}

// errOtherStory ends a run that leads to another story.
var errOtherStory = errors.New("another story")

func (p *plot) complete() bool { return p.taken == len(p.turns) }

// Watch takes turns.
func (p *plot) Watch(_ *Cluster, o *Occurrence) error {
	for i := range o.Effects {
		e := &o.Effects[i]
		if p.complete() || e.Kind != policy.Tell || !p.matters(e.Note) {
			continue
		}
		next := p.turns[p.taken]
		if next.role == len(p.cast) && !slices.Contains(p.cast, o.Member) {
			p.cast = append(p.cast, o.Member)
		}
		if e.Note != next.note || slices.Index(p.cast, o.Member) != next.role {
			return errOtherStory
		}
		if p.taken == p.untold && p.untold > 0 {
			p.begin = o.At
		}
		p.taken++
		p.end = o.At
	}
	return nil
}

// matters reports whether a note is a turn of this story or of another one.
func (p *plot) matters(n policy.Note) bool {
	return slices.ContainsFunc(p.turns, func(t turn) bool { return t.note == n })
}

// excerpt passes on what occurs from a certain time on, without the beats that are no news.
type excerpt struct {
	from    policy.Time
	watcher Watcher
}

// Watch passes on what occurred, if it is late enough.
func (e *excerpt) Watch(c *Cluster, o *Occurrence) error {
	if o.At < e.from || beatsOnly(o) {
		return nil
	}
	return e.watcher.Watch(c, o)
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
