package strict

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// "May I regenerate?" Whatever the ring or tree has found out, it is a majority that says so, and only a member that waits asks it.

// proposing is when a member proposes.
type proposing struct {
	// at is when this member, which waits, proposes although its ring or tree still looks for the token; Never if it does not wait, or proposes.
	at policy.Time
	// copy is what its promises carry.
	copy ballot.Copy
}

// patiences is how many patiences a member waits for a token before it proposes by itself: the ring and the tree need one for each member that
// a request or the token visits, and a few for a search.
func (g *Machine) patiences() time.Duration { return time.Duration(8 + 2*g.set.Roster.Len()) }

// considerProposal proposes if this member waits and there seems to be no token, or takes that back.
//
// "Rank: backups (nested detection sets, queue positions) decide who proposes when" (rule 10); of equals the lower rank is the first.
func (g *Machine) considerProposal(now policy.Time, wants bool, out []policy.Effect) []policy.Effect {
	p := &g.proposing
	g.in.Newest(p.copy.Data[:])
	g.b.Keep(&p.copy)
	switch waits := wants && g.turn.state == absent && g.b.Token() == nil; {
	case !waits || g.b.Proposing():
		p.at = policy.Never
		if !waits && g.b.Proposing() {
			return g.b.Desist(now, out)
		}
		return out
	case p.at == policy.Never:
		p.at = now.Add(g.patiences() * g.set.Patience)
	}
	if now >= p.at || g.in.AsksToRegenerate() {
		p.at = policy.Never
		step := g.set.Patience
		g.b.Propose(now, time.Duration(g.in.Standing())*step+step*time.Duration(g.self)/time.Duration(g.set.Roster.Len()))
	}
	return out
}

// onOutcome is told what came of a ballot. "Promises carry the newest copy (Seq, data, position); the new epoch starts from the greatest, recounts
// requests, and serves the waiting member of smallest position." (rule 10) The last two are the ring's and the tree's own.
func (g *Machine) onOutcome(now policy.Instant, o *ballot.Outcome, out []policy.Effect) []policy.Effect {
	switch o.Ending {
	case ballot.Pending:
	case ballot.Promised:
		g.in.Learn(o.Copy.Data[:])
	case ballot.Won:
		g.in.Learn(o.Copy.Data[:])
		from := len(out)
		return g.follow(now, from, g.in.Regenerate(now, &o.Token, out))
	case ballot.Renewed:
		g.turn.tried = false
		if g.turn.state == running {
			return policy.AppendExtend(out, &o.Token, g.b.Until())
		}
	case ballot.Ended:
		out = policy.AppendGave(out, policy.CauseOvertaken, o.Peer, &o.Token)
		if g.turn.state == running {
			return append(out, policy.Effect{Kind: policy.Stop})
		}
		return g.lose(now, out)
	}
	return out
}

// give gives up the token that is here, because there is a newer one.
func (g *Machine) give(now policy.Instant, why policy.Cause, to wire.MemberID, out []policy.Effect) []policy.Effect {
	token := *g.b.Token()
	out = policy.AppendGave(out, why, to, &token)
	g.b.LetGo()
	return g.lose(now, out)
}

// destroy ends an epoch that has no number left, or another proposer. "Early end: a holder that has stopped its command and destroys the token may release;
// supporters of e end its lease, and the next epoch need not wait." (rule 11)
func (g *Machine) destroy(now policy.Instant, out []policy.Effect) []policy.Effect {
	token := *g.b.Token()
	out = policy.AppendGave(out, policy.CauseDropped, wire.MemberID{}, &token)
	out = g.lose(now, g.b.Release(now.Time, out))
	g.proposing.at = now.Time
	return out
}
