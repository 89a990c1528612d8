// Package follow watches a fleet for viewers, through one agent's control socket: it asks for the holders of the tokens
// several times a second, and asks all members less often. While there is no viewer, it asks nobody.
package follow

import (
	"context"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

const (
	// nowEvery is how often the holders are asked, fleetEvery how often all members are asked.
	nowEvery   = 500 * time.Millisecond
	fleetEvery = 5 * time.Second
	// trail is how many holders of a token are remembered.
	trail = 8
)

// Source is an agent that can be asked.
type Source interface {
	Now(ctx context.Context) (control.Now, error)
	Fleet(ctx context.Context) (control.Fleet, error)
}

// Token is a token, and where it came from.
type Token struct {
	control.Holder
	// Trail are the names of the members that were seen to hold it, the holder last.
	Trail []string `json:"trail"`
}

// Snapshot is what is known of a fleet at one moment. It does not change after it was handed to tell.
type Snapshot struct {
	At time.Time `json:"at"`
	// Fleet is the last answer of all members. It is large, and changes seldom.
	Fleet  *control.Fleet `json:"-"`
	Tokens []Token        `json:"tokens"`
	// Error is why the agent on this host could not be asked; the other fields are then from an earlier answer.
	Error string `json:"error,omitempty"`
}

// Follow hands snapshots to tell until ctx is done. tell must not block for long.
func Follow(ctx context.Context, src Source, tell func(Snapshot)) {
	s := Snapshot{Fleet: &control.Fleet{}}
	tick := time.NewTicker(nowEvery)
	defer tick.Stop()
	var asked time.Time
	for ctx.Err() == nil {
		now, err := src.Now(ctx)
		if err == nil {
			ended := s.take(now.Tokens)
			if ended || time.Since(asked) >= fleetEvery {
				var all control.Fleet
				if all, err = src.Fleet(ctx); err == nil {
					asked, s.Fleet = time.Now(), &all
					s.take(all.Tokens)
				}
			}
		}
		if s.At, s.Error = time.Now(), ""; err != nil {
			s.Error = err.Error()
		}
		if ctx.Err() != nil {
			return
		}
		tell(s)
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// take replaces the tokens, and reports whether a run has ended.
func (s *Snapshot) take(holders []control.Holder) (ended bool) {
	tokens := make([]Token, len(holders))
	for i, h := range holders {
		tokens[i] = Token{Holder: h}
		at := slices.IndexFunc(s.Tokens, func(t Token) bool { return t.Gate == h.Gate && t.Slot == h.Slot })
		var before Token
		if at >= 0 {
			before = s.Tokens[at]
		}
		ended = ended || before.Running && (!h.Running || before.Member != h.Member)
		tokens[i].Trail = before.Trail
		if n := len(before.Trail); h.Missing == "" && (n == 0 || before.Trail[n-1] != h.Name) {
			tokens[i].Trail = append(slices.Clone(before.Trail[max(0, n-trail+1):]), h.Name)
		}
	}
	s.Tokens = tokens
	return ended
}
