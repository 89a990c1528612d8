// Package stages lets the members of a gate run stage by stage: those of the first stage before those of the next. Each
// member announces where it stands; a member that is about to run its gate's own operation looks at what it knows of
// the members of earlier stages, and waits while one of them is due.
//
// Its decisions, in docs/decisions: 104.
package stages

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Config has the stages of a gate. The zero value is one stage with all members.
type Config struct {
	// First has a pattern over the names of members for each stage but the last. A member is in the stage of the first
	// pattern that matches its name; in the last one, if none does.
	First []string
	// Wait is how long a member that is away holds up the later stages.
	Wait time.Duration
	// Settle is how long what a member announces may take to reach all others. Zero is [Settle].
	Settle time.Duration
}

// The bounds of a list of stages.
const (
	MostStages  = 8
	MostPattern = 64
)

// Check reports what is wrong with a pattern.
func Check(pattern string) error {
	if pattern == "" || len(pattern) > MostPattern {
		return fmt.Errorf("a pattern has 1 to %d characters", MostPattern)
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return errors.New("* stands for any text, ? for a character, [ab] for one of these")
	}
	return nil
}

// Of returns the stage of a member, from 0.
func (c *Config) Of(name string) int {
	for i, pattern := range c.First {
		if is, _ := path.Match(pattern, name); is {
			return i
		}
	}
	return len(c.First)
}

// IsEarly reports whether a member is in a stage that has a next one.
func (c *Config) IsEarly(name string) bool { return c.Of(name) < len(c.First) }

// Name describes a stage.
func (c *Config) Name(stage int) string {
	if stage == len(c.First) {
		return fmt.Sprintf("stage %d (the rest)", stage+1)
	}
	return fmt.Sprintf("stage %d (%s)", stage+1, c.First[stage])
}

// Standing is where a member stands, as it announces.
type Standing uint8

const (
	// Unsaid is the standing of a member that has announced nothing: it has just started, or has no such stage.
	Unsaid Standing = iota
	// Free is a member that is not due: it holds nobody up.
	Free
	// Due is a member whose operation is due, or runs, or whose host soaks.
	Due
	// Failed is a member whose last run has not succeeded.
	Failed
)

// String says why a member with this standing holds others up. A standing of a later version is like none.
func (s Standing) String() string {
	switch s {
	case Free:
		return "not due"
	case Due:
		return "due, or at it"
	case Failed:
		return "its last run has failed"
	case Unsaid:
	}
	return "has not said yet whether it is due: does it have the same first?"
}

// Own is what decides where this member stands.
type Own struct {
	// Due is true if the operation is due as soon as its host is ready; Ready, if the host has said that it is, or is
	// not asked; No, if it has said after the last run that it is not.
	Due, Ready, No bool
	// Runs is true while the operation runs, or its host soaks; Failed, if the last run has not succeeded.
	Runs, Failed bool
	// Saves is true while the disk takes the start of a run, maybe: then the operation is neither due nor runs.
	Saves bool
	// PausedHere is true if an operator has paused the gate on this host alone; Ordered, if one waits for a run here.
	PausedHere, Ordered bool
	// Stale is how old the answers of hosts may be that were asked whether they are ready.
	Stale time.Duration
}

// Standing is where the member stands.
func (o *Own) Standing() Standing {
	switch {
	case o.Runs:
		return Due
	case o.PausedHere, o.No:
		return Free
	case o.Failed:
		return Failed
	case o.Due:
		return Due
	}
	return Free
}

// Member is another member of the gate.
type Member struct {
	Name     string
	Standing Standing
	// Away is since when it is away; zero if it is here.
	Away time.Time
}

// Held is a member that holds this one up.
type Held struct {
	Name, Why string
	stage     int
}

// Settle is how long what a member announces may take to reach all others.
const Settle = 10 * time.Second

// lookAgain is how long a list of those who hold this member up counts if nothing is heard.
const lookAgain = time.Minute

// Watch watches the earlier stages for one member.
type Watch struct {
	cfg   Config
	name  string
	stage int
	// Failed is true if the last run here has not succeeded.
	Failed bool
	said   Standing
	// settled is when this member has been due for long enough to have heard of others that are; zero if it is not due.
	settled time.Time
	held    []Held
	lookAt  time.Time
	empty   []string
	// open is true if nobody held this member up when it was last asked.
	open bool
}

// Set takes the configuration for a member. What it has said is said again.
func (w *Watch) Set(cfg Config, name string) {
	w.cfg, w.name, w.stage, w.said = cfg, name, cfg.Of(name), Unsaid
}

// Waits reports whether this member has to wait for others; IsEarly, whether others wait for it.
func (w *Watch) Waits() bool { return w.stage > 0 }

// IsEarly reports whether this member is in a stage that others wait for.
func (w *Watch) IsEarly() bool { return w.stage < len(w.cfg.First) }

// Stage describes the stage of this member.
func (w *Watch) Stage() string { return w.cfg.Name(w.stage) }

// See takes in where this member stands now. news is what the others have to be told, if anything.
func (w *Watch) See(o *Own, now time.Time) (said Standing, news bool) {
	switch {
	case !o.Due || !o.Ready:
		w.settled = time.Time{}
	case w.settled.IsZero():
		if w.settled = now.Add(cmp.Or(w.cfg.Settle, Settle)); !o.Ordered {
			w.settled = w.settled.Add(o.Stale)
		}
	}
	w.open = w.open && w.IsOpen(now) // or it would not be news when it is open again
	s := o.Standing()
	if o.Saves && w.said == Due {
		s = Due
	}
	if !w.IsEarly() || s == w.said {
		return s, false
	}
	w.said = s
	return s, true
}

// Look takes in where the others stand.
func (w *Watch) Look(others []Member, now time.Time) {
	w.held, w.lookAt = nil, now.Add(lookAgain)
	met := make([]bool, w.stage)
	for i := range others {
		m := &others[i]
		stage := w.cfg.Of(m.Name)
		if stage >= w.stage {
			continue
		}
		if m.Away.IsZero() {
			met[stage] = true
		}
		h := Held{Name: m.Name, Why: m.Standing.String(), stage: stage}
		switch left := w.cfg.Wait - now.Sub(m.Away); {
		case m.Standing == Free, !m.Away.IsZero() && (left <= 0 || m.Standing == Unsaid):
			continue
		case !m.Away.IsZero():
			h.Why += "; away"
			w.lookAt = earlier(w.lookAt, now.Add(left))
		}
		w.held = append(w.held, h)
	}
	slices.SortFunc(w.held, func(a, b Held) int { return cmp.Or(a.stage-b.stage, strings.Compare(a.Name, b.Name)) })
	w.empty = nil
	for i, is := range met {
		if !is {
			w.empty = append(w.empty, w.cfg.First[i])
		}
	}
}

// Empty has the patterns of earlier stages that match no member that is here.
func (w *Watch) Empty() []string { return w.empty }

// LookAt is when to look again if nothing is heard; zero if never.
func (w *Watch) LookAt(now time.Time) time.Time {
	switch {
	case !w.Waits():
		return time.Time{}
	case w.settled.After(now):
		return earlier(w.lookAt, w.settled)
	}
	return w.lookAt
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// mostNamed is how many members are named.
const mostNamed = 5

// Held has the first members that hold this one up, and the number of the others.
func (w *Watch) Held() (first []Held, more int) {
	n := min(len(w.held), mostNamed)
	return w.held[:n], len(w.held) - n
}

// Why returns why this member does not run its operation; empty if no earlier stage holds it up.
func (w *Watch) Why(now time.Time) string {
	if w.IsOpen(now) {
		return ""
	}
	return cmp.Or(w.WaitsFor(), "due, and listens whether a member of an earlier stage is due, too")
}

// WaitsFor returns who holds this member up, also while it has a grant and takes other gates: then it is not due, and
// has listened. It is empty if nobody does.
func (w *Watch) WaitsFor() string {
	if len(w.held) == 0 {
		return ""
	}
	return "due, and waits for " + w.text()
}

// IsOpen reports whether no earlier stage holds this member up.
func (w *Watch) IsOpen(now time.Time) bool {
	return !w.Waits() || len(w.held) == 0 && !w.settled.IsZero() && !w.settled.After(now)
}

// Turned reports whether that has changed since the last call.
func (w *Watch) Turned(now time.Time) (turned bool) {
	is := w.IsOpen(now)
	turned = w.open != is
	w.open = is
	return turned
}

func (w *Watch) text() string {
	first, more := w.Held()
	parts := make([]string, 0, len(first)+1)
	for i := range first {
		parts = append(parts, first[i].Name+" ("+first[i].Why+")")
	}
	text := strings.Join(parts, ", ")
	if more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return w.cfg.Name(w.held[0].stage) + ": " + text
}
