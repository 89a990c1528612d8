package tell

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Story is a situation worth telling. Chance has a part in it: it is told of the least seed that leads to it, so that it stays
// the same situation when a rule of the protocol changes.
type Story struct {
	// Name is by which it is asked for, About what it shows.
	Name, About string
	// World makes the world of a seed, with all that goes wrong arranged, and starts it. Every checker looks on.
	World func(seed uint64, watchers ...sim.Watcher) *sim.Cluster
	// The story is told from a time on, until all turns have been taken, and no others of their kinds.
	From  policy.Time
	Turns []Turn
	// Untold is how many turns only lead to the story.
	Untold int
	// Dull reports whether nothing occurred that is news; nil if everything is.
	Dull  func(*sim.Occurrence) bool
	Words Words
}

// storySeeds and storyTime are how long to look for a run that leads to a story.
const (
	storySeeds = 2000
	storyTime  = policy.Time(2 * time.Minute)
)

// Tell writes the story to w.
func (s *Story) Tell(w io.Writer, f Format) error {
	for seed := uint64(1); seed <= storySeeds; seed++ {
		p := &plot{Story: s, begin: s.From}
		if err := s.World(seed, &excerpt{s.From, s.Dull, p}).Run(storyTime); !p.complete() {
			if errors.Is(err, errOtherStory) {
				continue
			}
			return err
		}
		return s.World(seed, &excerpt{p.begin, s.Dull, NewTeller(w, f, s.Words)}).Run(p.end)
	}
	return fmt.Errorf("no seed up to %d leads to the story %q", storySeeds, s.Name)
}

// plot is how far a story has come.
type plot struct {
	*Story
	// taken counts the turns so far; cast is who plays which role.
	taken int
	cast  []int
	// begin and end are when the first Turn was taken that is told, and the last.
	begin, end policy.Time
}

// Turn is a note of a member in one of the roles 0, 1, 2… Each role is played by another member, and begins in its order.
type Turn struct {
	Note policy.Note
	Role int
}

// errOtherStory ends a run that leads to another story.
var errOtherStory = errors.New("another story")

func (p *plot) complete() bool { return p.taken == len(p.Turns) }

// Watch takes turns.
func (p *plot) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	for i := range o.Effects {
		e := &o.Effects[i]
		if p.complete() || e.Kind != policy.Tell || !p.matters(e.Note) {
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

// matters reports whether a note is a turn of this story or of another one.
func (p *plot) matters(n policy.Note) bool {
	return slices.ContainsFunc(p.Turns, func(t Turn) bool { return t.Note == n })
}

// excerpt passes on what occurs from a certain time on, without what is no news.
type excerpt struct {
	from    policy.Time
	dull    func(*sim.Occurrence) bool
	watcher sim.Watcher
}

// Watch passes on what occurred, if it is late enough.
func (e *excerpt) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.At < e.from || e.dull != nil && e.dull(o) {
		return nil
	}
	return e.watcher.Watch(c, o)
}
