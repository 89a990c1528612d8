package trace

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Trace writes a run: one line for each thing that happens and, indented below it, what the member does. It
// is a [sim.Watcher]. Members are called a, b, c…; tokens T1, T2…, handoffs h1, h2… and nonces n1, n2…, in the order in
// which they appear. A trace has messages, effects and notes, never the wording of a log.
type Trace struct{ writer }

// NewTrace returns a trace that writes to w, in the words of a protocol.
func NewTrace(w io.Writer, words Words) *Trace { return &Trace{newWriter(w, words)} }

// Watch implements [sim.Watcher].
func (t *Trace) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	who := sim.MemberName(o.Member)
	t.notes, t.kinds = c.Descriptor().Notes, c.Descriptor().Kinds
	switch o.Kind {
	case sim.Stepped:
		t.step(o, who)
	case sim.Ignored:
		t.line(o.At, "%s expects no %s", who, t.message(o.Msg))
	case sim.Lost:
		t.line(o.At, "lost: %s", t.Route(o.Msg))
	case sim.Duplicated:
		t.line(o.At, "twice: %s", t.Route(o.Msg))
	case sim.Played:
		t.line(o.At, "played: %s", t.Route(o.Msg))
	case sim.Paused, sim.Slept:
		t.line(o.At, "%s %s until %s", who, o.Kind, sim.Seconds(c.AwayUntil(o.Member)))
	case sim.RunGone:
		t.line(o.At, "%s's run is gone", who)
	case sim.Came, sim.Crashed, sim.Departed:
		t.line(o.At, "%s %s%s", who, o.Kind, forgot(o))
	case sim.Cut, sim.Healed:
		t.line(o.At, "the network is %s", o.Kind)
	}
	return t.err
}

// forgot says of a member that came that it has forgotten what it had saved.
func forgot(o *sim.Occurrence) string {
	if o.Forgot {
		return ", and has forgotten everything"
	}
	return ""
}

func (t *Trace) step(o *sim.Occurrence, who string) {
	// A wake-up without effects is not part of the trace. check.NewWakeChecker has the rule about it.
	if o.Event.Kind == policy.Woke && len(o.Effects) == 0 {
		return
	}
	// A save that takes no time is not an event of the trace.
	if !o.AtOnce || o.Event.Failed {
		t.line(o.At, "%s %s", who, t.event(o.Event))
	}
	for i := range o.Effects {
		if e := &o.Effects[i]; !untold(e.Kind) {
			t.print("%14s%s", "", t.Effect(e))
		}
	}
}

// untold reports whether effects of a kind are left out. The messages that are pre-signed for a guard are told when it
// sends them, and notes tell how tokens come and go.
func untold(k policy.EffectKind) bool {
	return k == policy.PreSign || k == policy.Took || k == policy.Gave || k == policy.Gone
}

func (t *Trace) line(at policy.Time, format string, args ...any) {
	t.print("%10s  %s", sim.Seconds(at), fmt.Sprintf(format, args...))
}

func (t *Trace) event(e *policy.Event) string {
	switch e.Kind {
	case policy.Started:
		if e.State == (policy.State{}) {
			return "starts"
		}
		return "starts with " + t.state(e.State)
	case policy.Received:
		return fmt.Sprintf("<- %s %s", sim.MemberName(sim.IndexOf(e.Msg.From)), t.message(&e.Msg))
	case policy.PeersChanged:
		names := make([]string, len(e.Peers))
		for i, id := range e.Peers {
			names[i] = sim.MemberName(sim.IndexOf(id))
		}
		seen := "sees " + strings.Join(names, " ")
		if e.TokenKnown {
			seen += ", another one has met a token"
		}
		return seen
	case policy.Saved, policy.Finished, policy.Soaks, policy.Wanted, policy.Unwanted, policy.Suspended,
		policy.Directed, policy.Renew, policy.Leave, policy.Woke:
	}
	return happening(e)
}

// happening returns text for an event at a member that is not a start, a message or a view.
func happening(e *policy.Event) string {
	switch e.Kind {
	case policy.Saved:
		return or(e.Failed, "could not save", "has saved")
	case policy.Finished:
		return or(e.Denied, "was too late to start",
			or(e.Outcome == policy.Succeeded, "has finished", "has finished: "+e.Outcome.String()))
	case policy.Soaks:
		return "has succeeded, and its host soaks"
	case policy.Wanted:
		return "is wanted"
	case policy.Unwanted:
		return "is wanted no longer"
	case policy.Suspended:
		return fmt.Sprintf("was asleep for %v", e.Slept)
	case policy.Directed:
		return "is told: " + directive(e.Directive)
	case policy.Renew:
		return "is to make a new token"
	case policy.Leave:
		return "is to leave"
	case policy.Woke:
		return "wakes"
	case policy.Started, policy.Received, policy.PeersChanged:
	}
	return e.Kind.String()
}

func or(yes bool, then, otherwise string) string {
	if yes {
		return then
	}
	return otherwise
}

func directive(o wire.Directive) string {
	switch by := sim.MemberName(sim.IndexOf(o.By)); o.Until {
	case 0:
		return "resumed by " + by
	case wire.ForEver:
		return "paused by " + by
	default:
		return fmt.Sprintf("paused by %s until %s", by, time.Unix(0, o.Until).UTC().Format(time.TimeOnly))
	}
}

// Effect returns text for an effect of a member.
func (t *Trace) Effect(e *policy.Effect) string {
	switch e.Kind {
	case policy.Save:
		return "saves " + t.state(e.State)
	case policy.Send:
		return fmt.Sprintf("-> %s %s", sim.MemberName(sim.IndexOf(e.Msg.To)), t.message(&e.Msg))
	case policy.Run:
		if e.Demanded {
			return "RUN " + t.Token(e.Token) + " for a caller"
		}
		return "RUN " + t.Token(e.Token)
	case policy.Extend:
		return "EXTEND until " + sim.Seconds(e.Until)
	case policy.Stop:
		return "STOP"
	case policy.PreSign, policy.Took, policy.Gave, policy.Gone:
	case policy.Proclaim:
		return "knows: " + directive(e.Msg.Directive)
	case policy.Announce:
		return "announces that it has met a token"
	case policy.Tell:
		said := t.notes.Of(e.Note).Name
		if !e.Token.ID.IsZero() {
			said += " " + t.Token(e.Token)
		}
		if !e.Peer.IsZero() {
			said += ", " + sim.MemberName(sim.IndexOf(e.Peer))
		}
		return said
	}
	return e.Kind.String()
}

func (t *Trace) state(s policy.State) string {
	if !s.HasRun {
		return "seq " + seqText(s.Seq)
	}
	ran := fmt.Sprintf("seq %s, ran %s", seqText(s.Seq), sim.Seconds(s.LastRun))
	if t.words.Ran == nil {
		return ran
	}
	return ran + " under " + t.tokenName(t.words.Ran(&s))
}

func (t *Trace) message(m *wire.Message) string {
	var about []string
	if m.Exchange != 0 {
		about = append(about, number("h", t.handoffs, m.Exchange))
	}
	if said := t.nonceOf(m); said != "" {
		about = append(about, said)
	}
	if !m.Token.ID.IsZero() {
		about = append(about, t.Token(m.Token))
	}
	if t.words.Guardians != nil {
		for i, id := range t.words.Guardians(m) {
			if i == 0 {
				about = append(about, "guarded by")
			}
			about = append(about, sim.MemberName(sim.IndexOf(id)))
		}
	}
	if t.words.About != nil {
		if said := t.words.About(m); said != "" {
			about = append(about, said)
		}
	}
	return t.kinds.Of(m.Kind).Name + "(" + strings.Join(about, " ") + ")"
}

func (t *Trace) nonceOf(m *wire.Message) string {
	if t.words.Nonce != nil {
		if said, none := t.words.Nonce(m); none {
			return said
		}
	}
	if m.Nonce == 0 {
		return ""
	}
	return t.nonce(m.Nonce)
}

// Route returns text for the sender and the addressee of a message.
func (t *Trace) Route(m *wire.Message) string {
	return fmt.Sprintf("%s -> %s %s", sim.MemberName(sim.IndexOf(m.From)), sim.MemberName(sim.IndexOf(m.To)),
		t.message(m))
}

// Token returns the name of a token and its number.
func (t *Trace) Token(k wire.Ref) string { return t.tokenName(k.ID) + "#" + seqText(k.Seq) }
