// Package policytest has a protocol for tests: the smallest strict gate, with only a ballot, handoffs and a demand. It
// shows how a protocol is written and how it embeds package ballot, and it proves that shells, simulator and general
// checkers know no protocol. No command uses it.
//
// A member that is wanted asks all others for the token, and proposes a new epoch when none comes. The holder runs when
// it is wanted, and then passes the token to the next member that has asked. There is no queue: a request is repeated
// until it is served.
//
// Its decisions, in docs/decisions: 008.
package policytest

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// Settings are the settings of a gate; Self and Entropy come with its environment, and so does the roster if the
// environment has one. It implements [policy.Protocol].
type Settings ballot.Config

var _ policy.Protocol = Settings{}

// KindRequest asks for the token.
const KindRequest wire.Kind = 64

// Descriptor describes the smallest strict gate to shells and simulator.
func (Settings) Descriptor() policy.Descriptor {
	return policy.Descriptor{
		ID: 254, Name: "strictlock", Version: 1, WellFormed: wellFormed,
		Kinds: slices.Concat(handoff.Kinds(), ballot.Kinds(),
			policy.Kinds{{Kind: KindRequest, Name: "Request", Part: policy.Asks}}),
		Notes: slices.Concat(handoff.Notes(), ballot.Notes()),
	}
}

// Machine returns the machine of a member, which must be in the roster.
func (s Settings) Machine(env policy.Env) policy.Machine {
	s.Gate, s.Entropy = env.Gate, env.Entropy
	if env.Roster != nil {
		roster := ballot.RosterOf(env.Roster)
		s.Roster = &roster
	}
	s.Self, _ = s.Roster.Rank(env.Self)
	return New(ballot.Config(s))
}

// SaveWithin is a lease: no run depends on a save.
func (s Settings) SaveWithin() time.Duration { return s.Lease }

// OrphanGrace is how much longer the others wait when a holder's agent is killed.
func (s Settings) OrphanGrace() time.Duration { return s.Patience }

func wellFormed(m *wire.Message) bool {
	switch {
	case m.Kind == KindRequest:
		return m.Exchange == 0 && m.Nonce == 0 && m.Token == wire.Ref{} && m.Load == wire.Load{}
	case handoff.Owns(m.Kind):
		return handoff.WellFormed(m)
	}
	return ballot.WellFormed(m)
}

// Machine is one member's part. It implements [policy.Machine] and is a plain value.
type Machine struct {
	cfg ballot.Config
	b   ballot.Machine
	h   handoff.Machine
	// end is the ballot's outcome in this step.
	end ballot.Outcome
	// wanted is true while a caller waits for a run here; running, while a command runs; offering, while the token is
	// on offer to another member.
	wanted, running, offering, leaving, gone bool
	// asked are the members that have asked for the token.
	asked uint64
	// askAt is when a wanted member asks the others again, or tries again to run.
	askAt policy.Time
}

// New returns a machine that waits for Started.
func New(cfg ballot.Config) *Machine {
	return &Machine{
		cfg: cfg, b: ballot.New(cfg), askAt: policy.Never,
		h: handoff.New(handoff.Config{
			Gate: cfg.Gate, Self: cfg.Roster.ID(cfg.Self), Timeout: cfg.Patience, Entropy: cfg.Entropy,
		}),
	}
}

// Step implements [policy.Machine].
func (g *Machine) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	var moved handoff.Outcome
	switch ev.Kind {
	case policy.Started:
		g.b.Start(now.Time, &ev.State)
	case policy.Saved:
		out = g.b.OnSaved(now.Time, ev.Failed, &g.end, out)
	case policy.Received:
		out = g.onReceived(now, &ev.Msg, &moved, out)
	case policy.Woke:
		out = g.b.Wake(now, &g.end, out)
		out = g.h.Wake(now.Time, &moved, out)
		if now.Time >= g.askAt || g.leaving {
			g.askAt = policy.Never
			out = g.next(now.Time, out)
		}
	case policy.Finished:
		g.running = false
		out = g.next(now.Time, out)
	case policy.Wanted:
		g.wanted = true
		out = g.next(now.Time, out)
	case policy.Unwanted:
		g.wanted, g.askAt = false, policy.Never
		out = g.b.Desist(now.Time, out)
	case policy.Leave:
		g.leaving, g.askAt = true, policy.Never
		g.h.Close()
		out = g.b.Desist(now.Time, out)
		if g.running {
			out = append(out, policy.Effect{Kind: policy.Stop})
		}
		out = g.next(now.Time, out)
	case policy.PeersChanged, policy.Soaks, policy.Suspended, policy.Directed, policy.Renew:
	}
	out = g.onMoved(now.Time, &moved, out)
	for g.end.Ending != ballot.Pending {
		end := g.end
		g.end = ballot.Outcome{}
		out = g.onOutcome(now.Time, &end, out)
	}
	if g.b.NeedsSave() {
		var s policy.State
		g.b.Memo(&s.Memo)
		out = policy.AppendSave(out, s)
	}
	return out
}

func (g *Machine) onReceived(now policy.Instant, m *wire.Message, moved *handoff.Outcome,
	out []policy.Effect,
) []policy.Effect {
	switch {
	case m.Kind == KindRequest:
		if rank, ok := g.cfg.Roster.Rank(m.From); ok {
			g.asked |= 1 << rank
		}
		return g.next(now.Time, out)
	case !handoff.Owns(m.Kind):
		return g.b.Receive(now, m, &g.end, out)
	case m.Kind == handoff.KindToken && !g.b.Accepts(m.Token.Seq):
		return out
	}
	return g.h.Receive(now.Time, m, moved, out)
}

// onMoved handles the end of a handoff.
func (g *Machine) onMoved(now policy.Time, o *handoff.Outcome, out []policy.Effect) []policy.Effect {
	switch o.Ending {
	case handoff.Pending:
		return out
	case handoff.Arrived:
		out = policy.AppendTook(out, policy.CauseReceived, o.Peer, &o.Token)
		if g.b.Token() != nil || !g.b.Accepts(o.Token.Seq) {
			return policy.AppendGave(out, policy.CauseOvertaken, o.Peer, &o.Token)
		}
		out = g.b.Hold(now, &o.Token, o.Took, o.Left, out)
	case handoff.Passed:
		g.offering = false
		g.b.LetGo()
	case handoff.Failed:
		g.offering = false
	}
	return g.next(now, out)
}

// onOutcome handles the outcome of a ballot.
func (g *Machine) onOutcome(now policy.Time, o *ballot.Outcome, out []policy.Effect) []policy.Effect {
	switch o.Ending {
	case ballot.Pending, ballot.Promised:
		return out
	case ballot.Won:
		out = policy.AppendTook(out, policy.CauseMade, wire.MemberID{}, &o.Token)
	case ballot.Renewed:
		if g.running {
			return policy.AppendExtend(out, &o.Token, g.b.Until())
		}
	case ballot.Ended:
		out = policy.AppendGave(out, policy.CauseOvertaken, o.Peer, &o.Token)
		if g.offering {
			g.h.Withdraw()
			g.offering = false
		}
		if g.running {
			out = append(out, policy.Effect{Kind: policy.Stop})
		}
	}
	return g.next(now, out)
}

// next takes the next action: run, pass the token on, or ask for it.
func (g *Machine) next(now policy.Time, out []policy.Effect) []policy.Effect {
	token := g.b.Token()
	switch {
	case g.running || g.offering || g.gone:
		return out
	case token == nil && g.leaving:
		if _, quiet := g.h.QuietAt(); quiet {
			g.gone = true
			return append(out, policy.Effect{Kind: policy.Gone})
		}
		return out
	case token == nil:
		if g.wanted && g.askAt == policy.Never {
			return g.ask(now, out)
		}
		return out
	}
	if g.askAt = policy.Never; g.wanted && now < g.b.Overlong() {
		g.askAt = g.b.Overlong()
	}
	switch {
	case g.leaving || g.b.Spent() || g.b.Contested() && !g.wanted:
		gave := *token
		out = policy.AppendGave(out, policy.CauseDropped, wire.MemberID{}, &gave)
		return g.next(now, g.b.Release(now, out))
	case g.wanted && g.askAt == policy.Never:
		var ok bool
		if out, ok = g.b.Run(now, out); ok {
			g.wanted, g.running = false, true
		}
		return g.b.Need(now, &g.end, out)
	}
	for i := range g.cfg.Roster.Len() {
		to := (g.cfg.Self + 1 + i) % g.cfg.Roster.Len()
		if g.asked&(1<<to) != 0 {
			g.asked &^= 1 << to
			if to != g.cfg.Self {
				g.offering = true
				out = g.h.Offer(now, token, &wire.Load{}, g.cfg.Roster.ID(to), out)
				g.h.Lend(g.b.Until())
				g.b.Rest()
				return out
			}
		}
	}
	g.b.Rest()
	return out
}

// ask asks all others for the token, and proposes a new epoch: in time to come first only if no lease is running.
func (g *Machine) ask(now policy.Time, out []policy.Effect) []policy.Effect {
	g.askAt = now.Add(4 * g.cfg.Patience)
	if at := g.b.Overlong(); now < at {
		g.askAt = at
		return g.b.Desist(now, out)
	}
	for rank := range g.cfg.Roster.Len() {
		if rank != g.cfg.Self {
			m := wire.Message{
				Gate: g.cfg.Gate, Kind: KindRequest, From: g.cfg.Roster.ID(g.cfg.Self), To: g.cfg.Roster.ID(rank),
			}
			out = policy.AppendSend(out, &m)
		}
	}
	if !g.b.Proposing() {
		g.b.Propose(now, time.Duration(2+g.cfg.Self)*g.cfg.Patience)
	}
	return out
}

// NextWake implements [policy.Machine].
func (g *Machine) NextWake() (at policy.Time, ok bool) {
	at = g.askAt
	if t, ok := g.b.NextWake(); ok {
		at = min(at, t)
	}
	if t, ok := g.h.NextWake(); ok {
		at = min(at, t)
	}
	return at, at != policy.Never
}

// Expects implements [policy.Machine].
func (g *Machine) Expects(m *wire.Message) bool {
	return m.Kind == KindRequest || g.h.Expects(m) || g.b.Expects(m)
}

// Status implements [policy.Machine].
func (g *Machine) Status(now policy.Time) policy.Status {
	s := policy.Status{Phase: "absent", Why: "holds no token", NextRun: policy.Never}
	if t := g.b.Token(); t != nil {
		s.Phase, s.Why, s.Holding, s.Token, s.Holder = "holding", "nobody waits", true, *t, g.cfg.Roster.ID(g.cfg.Self)
	}
	if g.wanted {
		s.NextRun = now
	}
	switch {
	case g.running:
		s.Phase, s.Why = "running", "running"
	case !g.b.HasMajority(now):
		s.Why, s.Bar = "no majority: "+g.b.Missing(), policy.BarNoMajority
	}
	return s
}

// Facts implements [policy.Machine].
func (g *Machine) Facts(now policy.Time, out []policy.Fact) []policy.Fact { return g.b.Facts(now, out) }

// String implements [policy.Machine].
func (g *Machine) String() string { return g.Status(0).Phase }

// Ballot returns this member's part in the ballots, for tests.
func (g *Machine) Ballot() *ballot.Machine { return &g.b }

// Config returns the configuration of this member's ballots.
func (g *Machine) Config() *ballot.Config { return &g.cfg }

// Leaving reports whether this member is to stop.
func (g *Machine) Leaving() bool { return g.leaving }
