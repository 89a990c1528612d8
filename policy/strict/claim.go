package strict

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A gate that runs once for the whole roster claims the interval before it runs: see package ballot. What an interval
// is worth to the others, the majority knows: so never do two members run in one interval, unless the first has failed.
// A member that dies in its run counts as one that has run.

// claims is the interval that a run of this member claims.
func (g *Machine) claims(demanded bool) time.Duration {
	if demanded || g.due.onDemand || !g.set.Once {
		return 0
	}
	return g.set.MinInterval
}

// isTaken reports whether another member has claimed the interval. Then the operation here is not due before the end of
// that, and callers that wait here have this member's next turn: an interval may be no longer than a lap, and the
// operation would come first in each turn, in vain.
func (g *Machine) isTaken(now policy.Instant, out []policy.Effect) (_ []policy.Effect, is bool) {
	by, until, taken := g.b.Taken()
	interval := g.claims(g.turn.demanded)
	if !taken || interval == 0 || now.Time >= until {
		return out, false
	}
	if g.due.resumedAt != 0 && until.Add(-interval) < g.due.resumedAt {
		g.marks.Hit(markResumeUnheard)
		// Who has answered so had not heard of that; or the operator's clock is ahead, and each question is in vain.
		until = min(until, now.Time.Add(max(g.set.Patience, now.Time.Sub(g.due.resumedAt))))
	}
	g.due.notBefore = max(g.due.notBefore, until)
	if g.due.wanted {
		g.due.turns.Owe()
	}
	if by.IsZero() {
		return policy.AppendTell(out, NoteNotRecorded, wire.MemberID{}, g.b.Token()), true
	}
	g.due.takenBy, g.due.takenUntil = by, until
	return policy.AppendTell(out, NoteClaimed, by, g.b.Token()), true
}

// hearResumed notes when an operator has resumed the gate, and reports whether that is what the directive says. A
// member that starts finds it on its disk, and ends no claim by it: its clock may be behind, and those that were over
// then are gone from the disk, too.
func (g *Machine) hearResumed(now policy.Instant, resumed *wire.Directive) bool {
	if *resumed == (wire.Directive{}) || resumed.Until != 0 {
		return false
	}
	given := time.UnixMilli(int64(resumed.Stamp)).UnixNano()
	// The operator's clock may be ahead: the claims to come count nevertheless.
	g.due.resumedAt = now.Time.Add(time.Duration(min(given-now.Wall, 0)))
	return true
}

// endClaims lets an operator's word end the claims that were made before it.
func (g *Machine) endClaims(now policy.Instant, resumed *wire.Directive) {
	if !g.hearResumed(now, resumed) {
		return
	}
	g.b.EndClaims(g.due.resumedAt)
	if g.due.takenUntil > now.Time {
		g.marks.Hit(markClaimEnded)
		g.due.takenUntil, g.due.notBefore = now.Time, now.Time
	}
}

// whyTaken says whose run this member's operation waits for; it is empty if it waits for none.
func (g *Machine) whyTaken(now policy.Time) string {
	if now >= g.due.takenUntil {
		return ""
	}
	name := "another host"
	if rank, ok := g.set.Roster.Rank(g.due.takenBy); ok {
		name = g.set.Roster.Name(rank)
	}
	return name + " has run for all in this interval, or did not live to say how its run has ended"
}
