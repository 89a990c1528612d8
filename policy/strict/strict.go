// Package strict is a gate that never lets two commands run at once, even under pauses and partitions, as long as all
// clocks run at about the same rate. It has three parts. A ring or a tree decides which member has the token next.
// Package ballot decides whether there is a token at all, and gives the lease without which no member runs. Package
// handoff, in the ring or tree, passes the token on.
//
//	lease.go        from the token to a command, and back: nothing runs before a lease, nothing moves before its end
//	regenerate.go   "may I regenerate?": when a member proposes
//	follow.go       tells the ballot what the ring or tree does
//	accept.go       drops messages from outside of the roster, or of an older epoch
//	due.go          whether this member wants to run: for callers, or for its own operation
//	keep.go         a grant that outlives its host
//	claim.go        one run in an interval for the whole roster
//	roster.go       a roster changes by one member at a time
//	settings.go     the settings of a gate, and its descriptor
//
// The ring and the tree count the hops of their token themselves, and never meet a token with a lower number than an
// earlier one. The ballot's fencing numbers are always at least as high, and every run has a number that no other run
// has.
//
// A gate at rest is silent: an idle holder does not renew its lease. The exception is a ring whose token always moves.
//
// Its decisions, in docs/decisions: 063, 097, 112.
package strict

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/wire"
)

// inner is a ring or a tree over UDP that asks before it makes a token. Its runs and saves are not carried out: a Run
// only means that it is this member's turn, and a Save is answered at once.
type inner interface {
	policy.Machine
	// AsksToRegenerate reports whether it has found that there is no token.
	AsksToRegenerate() bool
	// Standing is how many other members would be a better choice for the next holder, as far as the ring or tree
	// knows.
	Standing() int
	// Regenerate makes a token, whose number is above all others.
	Regenerate(now policy.Instant, token *wire.Ref, out []policy.Effect) []policy.Effect
	// Newest is the highest number that the ring or tree has met: it discards a token of an earlier epoch.
	Newest() wire.Seq
	// Lose tells the ring or tree that the token held here is over.
	Lose(now policy.Instant, out []policy.Effect) []policy.Effect
	// Renumber tells the ring or tree that the token held here has this number, or a higher one.
	Renumber(seq wire.Seq)
	// Handoff passes the token on. Inherited returns Took and Left of the token that came last: see package handoff.
	Handoff() *handoff.Machine
	Inherited() (took, left time.Duration)
}

// Machine is one member's part in a strict gate. It implements [policy.Machine].
type Machine struct {
	set  Settings
	self int
	// marks is what this machine's rare branches hit; nil if nobody listens.
	marks *marks.Marker
	in    inner
	b     ballot.Machine
	// end is the ballot's outcome in this step.
	end ballot.Outcome
	// event is the event that the ring or tree gets.
	event policy.Event
	// recorded is true while the ring or tree waits for a Saved.
	recorded bool
	// hadTurn is true if the token has not moved since a turn of this member: it has run, or could not.
	hadTurn bool

	turn turn
	due  due
	// calendar has the windows of the gate.
	calendar pace.Calendar
	// proposeAt is when this member, which waits, proposes although its ring or tree still looks for the token. It is
	// Never if the member does not wait, or already proposes.
	proposeAt policy.Time
	// vainAt is from when on a site of a tree that waits no longer proposes; Never if it does not search.
	vainAt policy.Time
	// leaving is true once this member is to stop, gone once it has stopped.
	leaving, gone bool
	// barred is the reason why the roster does not follow the saved one; empty if it follows.
	barred string
}

var _ policy.Machine = (*Machine)(nil)

// New returns a machine that waits for Started. The member must be in the roster.
func New(s Settings, env policy.Env) *Machine {
	rank, _ := s.Roster.Rank(env.Self)
	cfg := s.ballot(rank)
	cfg.Gate, cfg.Entropy, cfg.Marks = env.Gate, env.Entropy, env.Marks
	g := &Machine{
		set: s, self: rank, b: ballot.New(cfg), marks: env.Marks, due: due{onDemand: env.OnDemand},
		proposeAt: policy.Never, vainAt: policy.Never,
		calendar: pace.Calendar{Windows: pace.WindowsOf(s.Windows)},
	}
	roster := make([]wire.MemberID, s.Roster.Len())
	for i := range roster {
		roster[i] = s.Roster.ID(i)
	}
	switch s.Moves {
	case Ring:
		g.in = ring.New(ring.Config{
			Gate: env.Gate, Self: env.Self, Members: roster, Request: s.Request, Links: ring.UDP, Backups: s.Backups,
			Timeout: s.Patience,
			Rejoins: true, AsksFirst: true, Entropy: env.Entropy, Marks: env.Marks,
		})
	case Tree:
		p := s.Patience
		g.in = tree.New(tree.Config{
			Gate: env.Gate, Self: env.Self, Roster: roster, Backups: max(s.Backups, 1), Links: tree.UDP,
			Timers:  tree.Timers{Commit: 4 * p, Token: 4 * p, Reconnection: 2 * p, Liveness: p},
			Rejoins: true, AsksFirst: true, Entropy: env.Entropy, Marks: env.Marks,
		})
	}
	return g
}

// Step implements [policy.Machine].
func (g *Machine) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if g.gone || g.barred != "" {
		return g.standAside(ev, out)
	}
	g.calendar.See(now)
	switch ev.Kind {
	case policy.Started:
		out = g.onStarted(now, ev, out)
		g.hearResumed(now, &ev.State.Directive)
	case policy.Saved:
		out = g.b.OnSaved(now.Time, ev.Failed, &g.end, out)
		out = g.onSaved(now, ev.Failed, out)
	case policy.Received:
		out = g.onReceived(now, &ev.Msg, out)
	case policy.Woke:
		out = g.b.Wake(now, &g.end, out)
		out = g.inside(now, ev, out)
	case policy.Finished:
		out = g.onFinished(now, ev, out)
	case policy.Wanted:
		g.due.wanted = true
		if g.turn.state == running && !g.turn.demanded && !g.due.onDemand {
			g.due.turns.Owe()
		}
	case policy.Unwanted:
		g.due.wanted = false
		g.due.turns.Gone()
	case policy.Directed:
		g.due.paused = ev.Paused
		g.endClaims(now, &ev.Directive)
	case policy.Renew: // A strict gate replaces its token by itself, if a majority agrees.
	case policy.Soaks:
		if g.turn.state == running {
			out = g.b.Soaks(now.Time, ev.Soak, &g.end, out)
		}
	case policy.Leave:
		g.leaving = true
		out = g.inside(now, ev, out)
	case policy.PeersChanged:
		g.b.Heard(now.Time)
		out = g.inside(now, ev, out)
	case policy.Suspended:
		out = g.inside(now, ev, out)
	}
	if g.barred != "" {
		return out
	}
	return g.settle(now, out)
}

// settle repeats until the event has no further consequences.
func (g *Machine) settle(now policy.Instant, out []policy.Effect) []policy.Effect {
	for !g.gone {
		switch wants := g.wants(now.Time); {
		case g.end.Ending != ballot.Pending:
			end := g.end
			g.end = ballot.Outcome{}
			out = g.onOutcome(now, &end, out)
		case g.recorded:
			g.recorded = false
			g.event.Kind = policy.Saved
			out = g.inside(now, &g.event, out)
		case g.b.Spent() && g.turn.state < running:
			out = g.discard(now, out)
		case g.turn.state == handing && g.b.Unkept():
			out = g.handedBack(now, out)
		case now.Time >= g.recordsUntil():
			out = g.giveUpRecord(now, out)
		case g.turn.state == entered && !wants:
			out = g.skip(now, out)
		case g.turn.state == entered && g.hadTurn && g.b.Awaited():
			out = g.yield(now, out)
		case g.turn.state == entered && !g.turn.tried:
			out = g.try(now, out)
		case g.turn.state == absent && wants != g.due.told:
			out = g.tell(now, wants, out)
		default:
			return g.rest(now, wants, out)
		}
	}
	return out
}

// rest is the last part of each step.
func (g *Machine) rest(now policy.Instant, wants bool, out []policy.Effect) []policy.Effect {
	out = g.considerProposal(now.Time, wants, out)
	g.in.Handoff().Lend(g.b.Until())
	g.due.looksAt = g.dueAt(now.Time)
	if g.b.NeedsSave() {
		s := g.state()
		out = policy.AppendSave(out, s)
	}
	return out
}

// state is what this member must not forget.
func (g *Machine) state() policy.State {
	s, repeat := policy.State{HasRun: g.due.hasRun, LastRun: g.due.lastRun}, g.due.repeat
	// A save for another reason, before the run begins, must not undo the recorded start.
	if g.turn.saving || g.turn.saved {
		s.HasRun, s.LastRun, repeat.Wait = true, g.turn.savedAs, 0
	}
	g.b.Memo(&s.Memo)
	remember(repeat, &s.Memo)
	s.Claim = g.b.Claim()
	if s.Kept = g.b.Kept(); s.Kept.Holder == g.set.Roster.ID(g.self) {
		s.Kept.Demanded = g.turn.demanded
	}
	return s
}

// NextWake implements [policy.Machine].
func (g *Machine) NextWake() (at policy.Time, ok bool) {
	if g.gone || g.barred != "" {
		return 0, false
	}
	at = min(g.proposeAt, g.due.looksAt, g.recordsUntil())
	if t, ok := g.b.NextWake(); ok {
		at = min(at, t)
	}
	if t, ok := g.in.NextWake(); ok {
		at = min(at, t)
	}
	return at, at != policy.Never
}

// String implements [policy.Machine].
func (g *Machine) String() string { return g.turn.state.String() + " " + g.in.String() }

// Ballot returns this member's part in the ballots, for checkers.
func (g *Machine) Ballot() *ballot.Machine { return &g.b }

// Leaving reports whether this member is to stop, for checkers.
func (g *Machine) Leaving() bool { return g.leaving }
