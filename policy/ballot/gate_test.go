package ballot_test

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// gate is the smallest strict gate: a ballot, handoffs, and a demand. A member that is wanted asks all others for the token, and proposes a new
// epoch if none comes. The holder runs when it is wanted, and then passes the token to the next that has asked.
type gate struct {
	cfg ballot.Config
	b   ballot.Machine
	h   handoff.Machine
	// end is what the ballot has to say in this step.
	end ballot.Outcome
	// wanted, running and offering say that somebody waits for a run here, that a command runs, and that the token is on offer to another member.
	wanted, running, offering, leaving, gone bool
	// asked are the members that have asked for the token.
	asked uint64
	// askAt is when a member that is wanted asks the others again.
	askAt policy.Time
	// copied is the highest copy that came with the promises of the last proposal.
	copied wire.Seq
}

// kindRequest asks for the token.
const kindRequest wire.Kind = 64

var _ policy.Machine = (*gate)(nil)

func newGate(cfg ballot.Config) *gate {
	return &gate{
		cfg: cfg, b: ballot.New(cfg), askAt: policy.Never,
		h: handoff.New(handoff.Config{Gate: cfg.Gate, Self: cfg.Roster.ID(cfg.Self), Timeout: cfg.Patience, Entropy: cfg.Entropy}),
	}
}

func (g *gate) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	var moved handoff.Outcome
	switch ev.Kind {
	case policy.Started:
		g.b.Start(now.Time, &ev.State.Memo)
	case policy.Saved:
		out = g.b.OnSaved(now.Time, ev.Failed, &g.end, out)
	case policy.Received:
		out = g.onReceived(now, &ev.Msg, &moved, out)
	case policy.Woke:
		out = g.b.Wake(now, &g.end, out)
		out = g.h.Wake(now.Time, &moved, out)
		if g.wanted && now.Time >= g.askAt {
			out = g.ask(now.Time, out)
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
		g.leaving, g.wanted, g.askAt = true, false, policy.Never
		g.h.Close()
		out = g.b.Desist(now.Time, out)
		if g.running {
			out = append(out, policy.Effect{Kind: policy.Stop})
		}
		out = g.next(now.Time, out)
	case policy.PeersChanged, policy.Suspended:
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

func (g *gate) onReceived(now policy.Instant, m *wire.Message, moved *handoff.Outcome, out []policy.Effect) []policy.Effect {
	switch {
	case m.Kind == kindRequest:
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

// onMoved is told how a handoff has ended.
func (g *gate) onMoved(now policy.Time, o *handoff.Outcome, out []policy.Effect) []policy.Effect {
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

// onOutcome is told what came of a ballot.
func (g *gate) onOutcome(now policy.Time, o *ballot.Outcome, out []policy.Effect) []policy.Effect {
	switch o.Ending {
	case ballot.Pending:
		return out
	case ballot.Promised:
		g.copied = max(g.copied, o.Copy.Seq)
		return out
	case ballot.Won:
		g.copied = 0
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

// next does what is to be done next: run, pass the token on, or ask for it.
func (g *gate) next(now policy.Time, out []policy.Effect) []policy.Effect {
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
	g.askAt = policy.Never
	switch {
	case g.leaving || g.b.Spent():
		gave := *token
		out = policy.AppendGave(out, policy.CauseDropped, wire.MemberID{}, &gave)
		return g.next(now, g.b.Release(now, out))
	case g.wanted:
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
func (g *gate) ask(now policy.Time, out []policy.Effect) []policy.Effect {
	g.askAt = now.Add(4 * g.cfg.Patience)
	for rank := range g.cfg.Roster.Len() {
		if rank != g.cfg.Self {
			m := wire.Message{Gate: g.cfg.Gate, Kind: kindRequest, From: g.cfg.Roster.ID(g.cfg.Self), To: g.cfg.Roster.ID(rank)}
			out = policy.AppendSend(out, &m)
		}
	}
	if !g.b.Proposing() {
		g.b.Propose(now, time.Duration(2+g.cfg.Self)*g.cfg.Patience)
	}
	return out
}

func (g *gate) NextWake() (at policy.Time, ok bool) {
	at = g.askAt
	if t, ok := g.b.NextWake(); ok {
		at = min(at, t)
	}
	if t, ok := g.h.NextWake(); ok {
		at = min(at, t)
	}
	return at, at != policy.Never
}

func (g *gate) Expects(m *wire.Message) bool {
	return m.Kind == kindRequest || g.h.Expects(m) || g.b.Expects(m)
}

func (g *gate) Status(policy.Time) policy.Status {
	s := policy.Status{Phase: "absent", Holding: g.b.Token() != nil, NextRun: policy.Never}
	if s.Holding {
		s.Phase, s.Token = "holding", *g.b.Token()
	}
	return s
}

func (g *gate) Facts(now policy.Time, out []policy.Fact) []policy.Fact { return g.b.Facts(now, out) }

func (g *gate) String() string { return g.Status(0).Phase }
