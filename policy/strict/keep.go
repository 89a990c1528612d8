package strict

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// A kept grant outlives its agent and its host: see package ballot. It is saved here and at a majority before the
// operation starts. It ends in two steps: first all members learn that it is an ordinary grant again; only then the
// token goes on. So no member waits for the host any longer when the next one has the token.

var _ policy.Keeper = (*Machine)(nil)

// AskKeepers implements [policy.Keeper].
func (g *Machine) AskKeepers() bool { return g.turn.state == running && g.b.AskKeepers() }

// KeepersAnswered implements [policy.Keeper].
func (g *Machine) KeepersAnswered() bool { return g.turn.state == running && g.b.KeepersAnswered() }

// resume goes on with a kept grant of an earlier life, as if its operation still ran.
func (g *Machine) resume(now policy.Instant, kept *policy.Kept, out []policy.Effect) []policy.Effect {
	g.turn = turn{
		state: running, token: kept.Token, demanded: kept.Demanded, resumed: true, hadRun: g.due.hasRun,
		before: g.due.lastRun, waited: g.due.repeat.Wait,
	}
	out, ok := g.b.Resume(now.Time, &g.end, out)
	if !ok {
		out = policy.AppendTell(out, ballot.NoteEnded, wire.MemberID{}, &kept.Token)
		return append(out, policy.Effect{Kind: policy.Stop})
	}
	return policy.AppendTook(out, policy.CauseKept, wire.MemberID{}, g.b.Token())
}

// handBack begins the end of a kept grant. The ring or tree learns the number of that end: the next holder's numbers
// must be above it, also if this member's turn comes several times before the token goes on. A supporter takes a lower
// one for late.
func (g *Machine) handBack(now policy.Instant, ended turn, out []policy.Effect) []policy.Effect {
	g.turn = turn{state: handing, resumed: ended.resumed, denied: ended.denied}
	out = g.b.Unkeep(now.Time, &g.end, out)
	if !ended.resumed {
		g.in.Renumber(g.b.Token().Seq)
	}
	return out
}

// handedBack lets the token go on. A token of an earlier life has no ring or tree to go on in: its epoch ends.
func (g *Machine) handedBack(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch ended := g.turn; {
	case g.b.Contested() || g.b.Starves():
		g.marks.Hit(markBackYields)
		return g.yield(now, out)
	case ended.resumed:
		g.marks.Hit(markBackResumed)
		return g.discard(now, out)
	default:
		g.turn = turn{}
		return g.handOn(now, ended.denied, out)
	}
}
