package trace

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Excerpt is a part of a run that is worth reading. It is of the least seed that leads to its turns, so it stays the
// same when a rule of the protocol changes.
type Excerpt struct {
	// Name identifies the excerpt, About describes it.
	Name, About string
	// World makes and starts the world of a seed, with its faults and all checkers.
	World func(seed uint64, watchers ...sim.Watcher) *sim.Cluster
	// The excerpt begins at From and ends with the last of its Turns. No other note of their kinds comes between.
	From  policy.Time
	Turns []Turn
	// After is how long it goes on after its last turn.
	After time.Duration
	// Skipped is the number of turns that lead to the excerpt but are not shown.
	Skipped int
	// Dull reports whether an occurrence is left out. If it is nil, none is.
	Dull  func(*sim.Occurrence) bool
	Words Words
}

// Find returns the excerpt with that name. The error lists all names.
func Find(all []Excerpt, name string) (Excerpt, error) {
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Excerpt{}, fmt.Errorf("unknown excerpt %q: choose %s", name, strings.Join(names, " or "))
}

// excerptSeeds and excerptTime bound the search for a run that leads to an excerpt.
const (
	excerptSeeds = 2000
	excerptTime  = policy.Time(2 * time.Minute)
)

// Write writes the excerpt to w.
func (s *Excerpt) Write(w io.Writer, f Format) error {
	for seed := uint64(1); seed <= excerptSeeds; seed++ {
		p := &plot{Excerpt: s, begin: s.From}
		if err := s.World(seed, s.from(s.From, p)).Run(excerptTime); !p.complete() {
			if errors.Is(err, errOtherExcerpt) {
				continue
			}
			return err
		}
		return s.World(seed, s.from(p.begin, NewWriter(w, f, s.Words))).Run(p.end)
	}
	return fmt.Errorf("no seed up to %d leads to the excerpt %q", excerptSeeds, s.Name)
}

// plot is the progress of an excerpt.
type plot struct {
	*Excerpt
	// taken is how many turns have come so far. cast has the member of each role.
	taken int
	cast  []int
	// begin is the time of the first turn that is shown. end is the time of the last turn.
	begin, end policy.Time
}

// Turn is a note at the member in a role. Roles are numbered from 0, in the order in which they begin. Each role has a
// different member.
type Turn struct {
	Note policy.Note
	Role int
}

// errOtherExcerpt ends a run that leads to another excerpt.
var errOtherExcerpt = errors.New("another excerpt")

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
			return errOtherExcerpt
		}
		if p.taken == p.Skipped && p.Skipped > 0 {
			p.begin = o.At
		}
		p.taken++
		p.end = o.At.Add(p.After)
	}
	return nil
}

// from passes on the occurrences from a given time on, except dull ones.
func (s *Excerpt) from(from policy.Time, to sim.Watcher) sim.WatcherFunc {
	return func(c *sim.Cluster, o *sim.Occurrence) error {
		if o.At < from || s.Dull != nil && s.Dull(o) {
			return nil
		}
		return to.Watch(c, o)
	}
}
