package strict

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/wire"
)

// Moves is how the token goes from member to member.
type Moves uint8

const (
	// Ring: along a ring; Settings.Request selects the protocol.
	Ring Moves = iota
	// Tree: to the next member in a queue, which is found along a tree.
	Tree
)

// String returns the name that operators use.
func (m Moves) String() string {
	return policy.Name([]string{Ring: "ring", Tree: "tree"}, m)
}

// Settings are the settings of a gate, the same on all its members; [Settings.Check] finds invalid values. It
// implements [policy.Protocol].
type Settings struct {
	Moves Moves
	// Request is what moves the token of a ring.
	Request ring.Request
	// Roster has the names and keys of all members. Only they take part. An environment with a roster replaces it by
	// its own.
	Roster *ballot.Roster
	// Backups is how many members keep a copy of a ring's token, or how many predecessors a site of a tree knows: 0 to
	// the number of the roster's members less two, and at most [tree.MaxBackups] in a tree. Backups preserve the order
	// of service; safety does not depend on them.
	Backups int
	// Lease is the time for which a majority lends the right to run. After a power cut of the holder no member runs for
	// this time. KillAfter is the time from TERM to KILL, Margin the time from KILL to the end of the lease.
	Lease, KillAfter, Margin time.Duration
	// Keep is how long a grant outlives the last word of its host, which the operation reboots. Zero: it ends with its
	// agent.
	Keep time.Duration
	// Soak is how long a host soaks at most while it holds the gate, so for how long this member promises no newer
	// epoch after a holder has gone in its soak; zero if none soaks.
	Soak time.Duration
	// Rho is the largest error of a clock's rate: 0.01 is one percent.
	Rho float64
	// Patience is how long an answer may take: a few round trips.
	Patience time.Duration
	// MinInterval is the least time from one start of this member's own operation to the next; in a gate on demand,
	// from any start to the next.
	MinInterval time.Duration
	// Once is true if one success in MinInterval is enough for all members: see claim.go.
	Once bool
	// RetryAfter is the time from the end of a failed run of this operation to the next run. Zero: a failed run counts
	// like any other.
	RetryAfter time.Duration
	// Windows are the times in which members may run; an empty set means always.
	Windows window.Set
}

var _ policy.Protocol = Settings{}

// Check returns an error that names the first invalid value for this member.
func (s Settings) Check(self wire.MemberID) error {
	switch {
	case s.Roster == nil || s.Roster.Len() == 0:
		return errors.New("a strict gate needs a roster")
	case s.Moves != Ring && s.Moves != Tree:
		return fmt.Errorf("there is no %v", s.Moves)
	case s.Moves == Ring && !slices.Contains(ring.Requests(), s.Request):
		return fmt.Errorf("there is no %v", s.Request)
	case s.Moves == Tree && s.Backups > tree.MaxBackups:
		return fmt.Errorf("backups = %d: a tree has at most %d", s.Backups, tree.MaxBackups)
	case s.Patience <= 0:
		return fmt.Errorf("patience = %v must be greater than 0", s.Patience)
	case s.KillAfter <= 0 || s.Margin <= 0:
		return fmt.Errorf("kill_after = %v and margin = %v must be greater than 0", s.KillAfter, s.Margin)
	case s.Keep != 0 && s.Keep < s.Lease:
		return fmt.Errorf("keep = %v is shorter than lease = %v, which a grant outlasts anyway", s.Keep, s.Lease)
	case s.Once && s.MinInterval > policy.LongestClaim:
		return fmt.Errorf("min_interval = %v is longer than once can be: %v", s.MinInterval, policy.LongestClaim)
	case s.MinInterval < 0 || s.RetryAfter < 0:
		return fmt.Errorf("min_interval = %v and retry_after = %v must not be negative", s.MinInterval, s.RetryAfter)
	}
	rank, ok := s.Roster.Rank(self)
	if !ok {
		rank = -1
	}
	cfg := s.ballot(rank)
	return cfg.Check(s.Backups)
}

// ballot returns the configuration of the ballots of the member with a rank.
func (s Settings) ballot(rank int) ballot.Config {
	return ballot.Config{
		Roster: s.Roster, Self: rank, Lease: s.Lease, MostLease: s.Lease, Keep: s.Keep, Soak: s.Soak,
		KillAfter: s.KillAfter, Margin: s.Margin, Rho: s.Rho, Patience: s.Patience,
	}
}

// Machine returns the machine of a member, for which Check must have returned no error.
func (s Settings) Machine(env policy.Env) policy.Machine {
	if env.Roster != nil {
		roster := ballot.RosterOf(env.Roster)
		s.Roster = &roster
	}
	return New(s, env)
}

// SaveWithin is the part of a lease that a command can use. A start that began to be recorded longer ago than this is
// recorded again.
func (s Settings) SaveWithin() time.Duration { return s.Lease - s.KillAfter - s.Margin }

// OrphanGrace is the time from TERM to KILL, also for the command of an agent that has died.
func (s Settings) OrphanGrace() time.Duration { return s.KillAfter }

// version distinguishes strict rings and trees from rings and trees without a ballot, which have the same numbers on
// the wire but other loads.
const version = 2

// Descriptor describes the strict ring, or the strict tree.
func (s Settings) Descriptor() policy.Descriptor {
	f := ring.Descriptor()
	if s.Moves == Tree {
		f = tree.Descriptor()
	}
	f.Doubt = ballot.Doubt
	inner := f.WellFormed
	f.Version = version
	f.Kinds = slices.Concat(f.Kinds, ballot.Kinds())
	f.Notes = slices.Concat(slices.DeleteFunc(f.Notes, isSlowNetwork), ballot.Notes(), notes(), pace.Notes())
	f.WellFormed = func(m *wire.Message) bool {
		if ballot.Owns(m.Kind) {
			return ballot.WellFormed(m)
		}
		return (m.Token.Seq == 0 || ballot.IsNumber(m.Token.Seq)) && (m.Exchange != 0 || !handoff.Owns(m.Kind)) &&
			inner(m)
	}
	return f
}

var _ policy.Tunable = (*Machine)(nil)

// Tune takes another pace and other windows. No other setting can change: the members of the roster have agreed on it,
// or a running lease depends on it.
func (g *Machine) Tune(p policy.Protocol) bool {
	s, ok := p.(Settings)
	if !ok || s.fixed() != g.set.fixed() {
		return false
	}
	g.set.Once, g.set.Soak = s.Once, s.Soak
	g.b.Tune(s.Soak)
	g.set.MinInterval, g.set.RetryAfter, g.set.Windows = s.MinInterval, s.RetryAfter, s.Windows
	g.calendar.Set(s.Windows)
	g.due.repeat = g.pace().Held(g.due.repeat)
	return true
}

// fixed returns the settings that cannot change while a member is here. The roster is the environment's.
func (s Settings) fixed() any {
	return [...]any{s.Moves, s.Request, s.Backups, s.Lease, s.KillAfter, s.Margin, s.Keep, s.Rho, s.Patience}
}
