package tree

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Status describes this member. The holder that it names is itself, or none.
func (m *Machine) Status(now policy.Time) policy.Status {
	s := policy.Status{
		Phase: m.phase(), Why: m.why(), Holding: m.holds, Token: m.token, Since: m.since,
		HasRun: m.hasRun, LastRun: m.lastRun, NextRun: policy.Never,
	}
	if m.holds {
		s.Holder = m.cfg.Self
	}
	if m.wanted {
		s.NextRun = now
	}
	return s
}

// phase is what this site does, in one word.
func (m *Machine) phase() string {
	switch {
	case m.running:
		return "running"
	case m.passing:
		return "passing"
	case m.holds:
		return "resting"
	case m.req && (m.timer == reconnectionTimer || m.timer == failureTimer || m.timer == electionTimer):
		return "searching"
	case m.req:
		return "waiting"
	}
	return "idle"
}

// why is a clause that completes "not running because …".
func (m *Machine) why() string {
	switch {
	case m.running:
		return "running"
	case m.leaving:
		return "leaving"
	case m.passing:
		return "passing the token on"
	case !m.wanted:
		return "nobody here waits for a run"
	case m.phase() == "searching":
		return "looking for the queue after a failure"
	case m.pos == none:
		return "asking for a place in the queue"
	}
	return "waiting in the queue for the token"
}

// Facts appends the paper's variables.
func (m *Machine) Facts(_ policy.Time, out []policy.Fact) []policy.Fact {
	out = append(out, policy.Fact{Key: policy.KeyRecovery, Text: m.cfg.Recovery.String()},
		policy.Fact{Key: policy.KeyBackups, Count: m.cfg.Backups})
	if m.pos != none {
		out = append(out, policy.Fact{Key: policy.KeyPos, Count: int(m.pos)})
	}
	for _, f := range []policy.Fact{
		{Key: policy.KeyLast, Member: m.member(m.last)},
		{Key: policy.KeyNext, Member: m.member(m.next.rank)},
		{Key: policy.KeyPred, Member: m.member(m.pred[0])},
	} {
		if !f.Member.IsZero() {
			out = append(out, f)
		}
	}
	return out
}

func (m *Machine) member(r rank) wire.MemberID {
	if r == nobody {
		return wire.MemberID{}
	}
	return m.cfg.Roster[r]
}

// Place is a site's place in the next queue, for checkers.
type Place struct {
	// Pos is negative if the site has no place.
	Pos int64
	// Asks is true while the site waits for the token; Waits is true if it also has its COMMIT.
	Asks, Waits bool
	// Next is its next, or zero.
	Next wire.MemberID
}

// Place returns the place of this site.
func (m *Machine) Place() Place {
	asks := m.req && !m.holds
	return Place{Pos: m.pos, Asks: asks, Waits: asks && m.pos != none, Next: m.member(m.next.rank)}
}
