package wander

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/trace"
	"github.com/wanderd/wanderd/wire"
)

// Excerpts returns the excerpts of runs that the docs show.
func Excerpts() []trace.Excerpt {
	const late = policy.Time(8 * time.Second)
	return []trace.Excerpt{
		{
			Name:  "round",
			About: "the token goes round three members; one of them is due and runs its operation",
			World: excerptWorld(Scenario{Members: 3}, nil),
			From:  late.Add(-time.Second),
			Turns: []trace.Turn{
				{Note: wander.NoteResting, Role: 0},
				{Note: handoff.NoteOffered, Role: 0},
				{Note: wander.NoteResting, Role: 1},
				{Note: handoff.NoteOffered, Role: 1},
				{Note: wander.NoteRan, Role: 2},
				{Note: handoff.NoteOffered, Role: 2},
				{Note: wander.NoteResting, Role: 0},
			},
			Skipped: 1, Dull: heartbeatsOnly, Words: Words(),
		},
		{
			Name: "lost",
			About: "every Commit of a handoff is lost; the sender keeps a copy, asks for its holder, " +
				"and revives it",
			World: excerptWorld(Scenario{Members: 4, Backups: 2}, func(c *sim.Cluster) {
				c.At(late, func() { c.LoseNext(func() {}) })
			}),
			From: late,
			Turns: []trace.Turn{
				{Note: guardian.NoteSuspected, Role: 0},
				{Note: handoff.NoteNoCommit, Role: 1},
				{Note: guardian.NoteSuspected, Role: 2},
				{Note: wander.NoteRevived, Role: 2},
				{Note: wander.NoteRan, Role: 2},
			},
			Dull: heartbeatsOnly, Words: Words(),
		},
	}
}

// excerptWorld makes worlds whose members are named in the order of their ranks, with a token in place. plan, if not
// nil, arranges faults.
func excerptWorld(s Scenario, plan func(*sim.Cluster)) func(uint64, ...sim.Watcher) *sim.Cluster {
	s.Order, s.TokenInPlace = sim.InOrder, true
	s.Skip, s.Op, s.MinInterval = time.Second, 2*time.Second, 10*time.Second
	s.Network = sim.Network{Latency: 50 * time.Millisecond, Encode: true}
	s.Hook = sim.Hook{Takes: 2 * time.Second, Spread: 0.5}
	return func(seed uint64, watchers ...sim.Watcher) *sim.Cluster {
		s.Seed = seed
		c := s.NewCluster(append(s.Checkers(), watchers...)...)
		if plan != nil {
			plan(c)
		}
		s.start(c)
		return c
	}
}

// heartbeatsOnly reports whether only a heartbeat occurred: there are four in a skip.
func heartbeatsOnly(o *sim.Occurrence) bool {
	switch {
	case o.Kind == sim.Lost:
		return o.Msg.Kind == guardian.KindHeartbeat
	case o.Kind != sim.Stepped:
		return false
	case o.Event.Kind == policy.Received && len(o.Effects) == 0:
		return o.Event.Msg.Kind == guardian.KindHeartbeat
	}
	other := func(e policy.Effect) bool { return e.Kind != policy.Send || e.Msg.Kind != guardian.KindHeartbeat }
	return o.Event.Kind == policy.Woke && !slices.ContainsFunc(o.Effects, other)
}

// Words returns the words in which a wandering token's trace is written.
func Words() trace.Words {
	return trace.Words{
		Ran: func(s *policy.State) wire.TokenID { return soft.MemoOf(&s.Memo).Token },
		Nonce: func(m *wire.Message) (said string, none bool) {
			if m.Kind == guardian.KindHeard || m.Kind == wander.KindSeen {
				return time.Duration(m.Nonce).Round(time.Millisecond).String() + " ago", true
			}
			if m.Kind == wander.KindUnseen && m.Nonce > 0 {
				leads := guardian.TrailOf(&m.Load)
				return leads[0].Short() + " asks", true
			}
			return "", m.Kind == guardian.KindHeartbeat
		},
		Guardians: func(m *wire.Message) []wire.MemberID {
			if m.Kind == wander.KindUnseen {
				return nil
			}
			trail := guardian.TrailOf(&m.Load)
			return trail[:trail.Len()]
		},
		About: soakLeft,
		Drawn: []policy.Note{
			wander.NoteArrived, wander.NoteRan, handoff.NoteOffered, handoff.NotePassed, handoff.NoteTokenAgain,
			handoff.NoteAckAgain,
			guardian.NoteStrayWord,
		},
	}
}

// soakLeft describes what a message tells of a soak.
func soakLeft(m *wire.Message) string {
	if left := guardian.SoakLeft(&m.Load); left > 0 {
		return fmt.Sprintf("soaks for %v", left)
	}
	return ""
}
