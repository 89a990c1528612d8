package strict

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// "May I regenerate?" Whatever the ring or tree has found out, a majority answers this question. Only a waiting member
// asks the majority, and one that searches in vain.

// patiences is how many patiences a member waits for a token before it proposes by itself. The ring and the tree need
// one for each member that a request or the token visits, and a few for a search.
func (g *Machine) patiences() time.Duration { return time.Duration(8 + 2*g.set.Roster.Len()) }

// considerProposal proposes if this member waits and there seems to be no token; otherwise it withdraws the proposal.
//
// "Rank: backups (nested detection sets, queue positions) decide who proposes when" (rule 10); of members with the same
// standing, the lower rank is first.
func (g *Machine) considerProposal(now policy.Time, wants bool, out []policy.Effect) []policy.Effect {
	asks := g.in.AsksToRegenerate()
	inVain := g.searchesInVain(now, !wants && asks)
	mayAsk := g.turn.state == absent && g.b.Token() == nil && now >= g.b.Overlong()
	switch waits := (wants || inVain) && mayAsk; {
	case !waits || g.b.Proposing():
		g.proposeAt = policy.Never
		if !waits && g.b.Proposing() {
			g.marks.Hit(markDesists)
			return g.b.Desist(now, out)
		}
		return out
	case g.proposeAt == policy.Never:
		g.proposeAt = now.Add(g.patiences() * g.set.Patience)
	}
	if now >= g.proposeAt || asks {
		g.marks.Hit(markProposes)
		g.proposeAt = policy.Never
		g.b.Meet(g.in.Newest())
		step := g.set.Patience / 2 // a round trip: the member before has asked by then
		g.b.Propose(now, time.Duration(g.in.Standing())*step+
			step*time.Duration(g.self)/time.Duration(g.set.Roster.Len()))
	}
	return out
}

// searchesInVain reports whether a site of a tree, which waits no longer, has found for long that there is no token.
// Its request cannot be withdrawn, so it would search on and on: it proposes, too.
func (g *Machine) searchesInVain(now policy.Time, is bool) bool {
	const timesLonger = 2
	switch {
	case !is || g.set.Moves != Tree:
		g.vainAt = policy.Never
	case g.vainAt == policy.Never:
		g.marks.Hit(markSearchesInVain)
		g.vainAt = now.Add(timesLonger * g.patiences() * g.set.Patience)
	}
	return now >= g.vainAt
}

// onOutcome handles the outcome of a ballot. "The new epoch starts from the greatest, recounts requests, and serves the
// waiting member of smallest position." (rule 10) A ring recounts and a tree's sites search, so promises carry no copy:
// a new token needs no data.
func (g *Machine) onOutcome(now policy.Instant, o *ballot.Outcome, out []policy.Effect) []policy.Effect {
	switch o.Ending {
	case ballot.Pending, ballot.Promised:
	case ballot.Won:
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
			g.marks.Hit(markOverInRun)
			g.turn.token = o.Token
			return append(out, policy.Effect{Kind: policy.Stop})
		}
		g.marks.Hit(markOver)
		if g.hadTurn {
			g.holdOff(now.Time)
		}
		out = g.b.ReleaseOver(now.Time, &o.Token, out)
		return g.lose(now, g.turn.resumed, out)
	}
	return out
}

// give gives up the token that is here, because there is a newer one.
func (g *Machine) give(now policy.Instant, why policy.Cause, to wire.MemberID, out []policy.Effect) []policy.Effect {
	g.marks.Hit(markGives)
	token := *g.b.Token()
	out = policy.AppendGave(out, why, to, &token)
	g.b.LetGo()
	return g.lose(now, false, out)
}

// discard ends an epoch that has no number left, or that another proposer has outbid: the early end of rule 11.
func (g *Machine) discard(now policy.Instant, out []policy.Effect) []policy.Effect {
	g.marks.Hit(markDiscards)
	token := *g.b.Token()
	out = policy.AppendGave(out, policy.CauseDropped, wire.MemberID{}, &token)
	out = g.lose(now, g.turn.resumed, g.b.Release(now.Time, out))
	g.proposeAt = now.Time
	return out
}

// yield gives the token up for other members. This member has just run, so it is the last to propose the next epoch. It
// yields if another member has outbid this epoch; or if another member waits for a new epoch while the token does not
// move and this member would run again, or while the token goes round among others for long. In these cases the ring or
// tree does not know the waiting members, because their requests were lost. Holders that run again and again never let
// the lease end.
func (g *Machine) yield(now policy.Instant, out []policy.Effect) []policy.Effect {
	g.marks.Hit(markYields)
	g.holdOff(now.Time)
	return g.discard(now, out)
}

// holdOff makes this member, which has had its turn under a token that is over, the last to propose the next epoch. If
// the ring or tree is broken, as by a member that sends and does not hear, each epoch ends with its first turn; then
// those that propose first would win again and again.
func (g *Machine) holdOff(now policy.Time) { g.b.HoldOff(now, g.patiences()*g.set.Patience) }
