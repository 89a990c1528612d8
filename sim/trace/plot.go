package trace

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Story is a situation that is worth reading. The least seed that leads to it is told, so the situation stays the same
// when a rule of the protocol changes.
type Story struct {
	// Name identifies the story, About describes it.
	Name, About string
	// World makes and starts the world of a seed, with its faults and all checkers.
	World func(seed uint64, watchers ...sim.Watcher) *sim.Cluster
	// The story begins at From and ends with the last of its Turns. No other note of their kinds comes between.
	From  policy.Time
	Turns []Turn
	// Untold is the number of turns that lead to the story but are not told.
	Untold int
	// Dull reports whether an occurrence is left out. If it is nil, none is.
	Dull  func(*sim.Occurrence) bool
	Words Words
}

// storySeeds and storyTime bound the search for a run that leads to a story.
const (
	storySeeds = 2000
	storyTime  = policy.Time(2 * time.Minute)
)

// Tell writes the story to w.
func (s *Story) Tell(w io.Writer, f Format) error {
	for seed := uint64(1); seed <= storySeeds; seed++ {
		p := &plot{Story: s, begin: s.From}
		if err := s.World(seed, s.excerpt(s.From, p)).Run(storyTime); !p.complete() {
			if errors.Is(err, errOtherStory) {
				continue
			}
			return err
		}
		return s.World(seed, s.excerpt(p.begin, NewWriter(w, f, s.Words))).Run(p.end)
	}
	return fmt.Errorf("no seed up to %d leads to the story %q", storySeeds, s.Name)
}

// plot is the progress of a story.
type plot struct {
	*Story
	// taken is how many turns have come so far. cast has the member of each role.
	taken int
	cast  []int
	// begin is the time of the first turn that is told. end is the time of the last turn.
	begin, end policy.Time
}

// Turn is a note at the member in a role. Roles are numbered from 0, in the order in which they begin. Each role has a
// different member.
type Turn struct {
	Note policy.Note
	Role int
}

// errOtherStory ends a run that leads to another story.
var errOtherStory = errors.New("another story")

func (p *plot) complete() bool { return p.taken == len(p.Turns) }

// Watch implements [sim.Watcher].
func (p *plot) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	for e := range o.Did(policy.Tell) {
		if p.complete() || !slices.ContainsFunc(p.Turns, func(t Turn) bool { return t.Note == e.Note }) {
			continue
		}
		next := p.Turns[p.taken]
		if next.Role == len(p.cast) && !slices.Contains(p.cast, o.Member) {
			p.cast = append(p.cast, o.Member)
		}
		if e.Note != next.Note || slices.Index(p.cast, o.Member) != next.Role {
			return errOtherStory
		}
		if p.taken == p.Untold && p.Untold > 0 {
			p.begin = o.At
		}
		p.taken++
		p.end = o.At
	}
	return nil
}

// excerpt passes on the occurrences from a given time on, except dull ones.
func (s *Story) excerpt(from policy.Time, to sim.Watcher) sim.WatcherFunc {
	return func(c *sim.Cluster, o *sim.Occurrence) error {
		if o.At < from || s.Dull != nil && s.Dull(o) {
			return nil
		}
		return to.Watch(c, o)
	}
}
