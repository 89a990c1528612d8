package sim

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// Trace writes a run as a story: one line for each thing that happens, and below it, indented, what the member does. It is
// a [Watcher]. Members are called a, b, c…; tokens T1, T2…, handoffs h1, h2… and nonces n1, n2… in the order in which they
// appear. A story holds messages, effects and notes, never the wording of a log.
type Trace struct {
	names
	w io.Writer
}

// NewTrace returns a trace that writes to w.
func NewTrace(w io.Writer) *Trace { return &Trace{names: newNames(), w: w} }

// Watch writes what occurred.
func (t *Trace) Watch(c *Cluster, o *Occurrence) error {
	who := MemberName(o.Member)
	t.notes = c.cfg.Family.Notes
	switch o.Kind {
	case Stepped:
		return t.step(o, who)
	case Ignored:
		return t.line(o.At, "%s expects no %s", who, t.message(o.Msg))
	case Lost:
		return t.line(o.At, "lost: %s", t.route(o.Msg))
	case Duplicated:
		return t.line(o.At, "twice: %s", t.route(o.Msg))
	case Played:
		return t.line(o.At, "played: %s", t.route(o.Msg))
	case Paused, Slept:
		return t.line(o.At, "%s %s until %s", who, o.Kind, clock(c.members[o.Member].awayUntil))
	case RunGone:
		return t.line(o.At, "%s's run is gone", who)
	case Came, Crashed, Departed:
		return t.line(o.At, "%s %s", who, o.Kind)
	case Cut, Healed:
		return t.line(o.At, "the network is %s", o.Kind)
	case occurrencesEnd:
	}
	return nil
}

func (t *Trace) step(o *Occurrence, who string) error {
	// That nobody is disturbed by a wake-up that was not asked for is no part of the story, but a rule that is checked.
	if o.Event.Kind == policy.Woke && len(o.Effects) == 0 {
		return nil
	}
	// What is saved at once goes on in the same breath.
	if !o.AtOnce || o.Event.Failed {
		if err := t.line(o.At, "%s %s", who, t.event(o.Event)); err != nil {
			return err
		}
	}
	for i := range o.Effects {
		if untold(o.Effects[i].Kind) {
			continue
		}
		if _, err := fmt.Fprintf(t.w, "%14s%s\n", "", t.effect(&o.Effects[i])); err != nil {
			return err
		}
	}
	return nil
}

// untold are the effects that are no part of a story: what is entrusted to a guard is told when the guard says it, and notes tell how
// tokens come and go.
func untold(k policy.EffectKind) bool {
	return k == policy.Entrust || k == policy.Took || k == policy.Gave || k == policy.Gone
}

func (t *Trace) line(at policy.Time, format string, args ...any) error {
	_, err := fmt.Fprintf(t.w, "%10s  %s\n", clock(at), fmt.Sprintf(format, args...))
	return err
}

func (t *Trace) event(e *policy.Event) string {
	switch e.Kind {
	case policy.Started:
		if e.State == (policy.State{}) {
			return "starts"
		}
		return "starts with " + t.state(e.State)
	case policy.Received:
		return fmt.Sprintf("<- %s %s", MemberName(IndexOf(e.Msg.From)), t.message(&e.Msg))
	case policy.PeersChanged:
		names := make([]string, len(e.Peers))
		for i, id := range e.Peers {
			names[i] = MemberName(IndexOf(id))
		}
		seen := "sees " + strings.Join(names, " ")
		if e.TokenKnown {
			seen += ", another one has met a token"
		}
		return seen
	case policy.Saved:
		if e.Failed {
			return "could not save"
		}
		return "has saved"
	case policy.Finished:
		if e.Denied {
			return "was too late to start"
		}
		return "has finished"
	case policy.Wanted:
		return "is wanted"
	case policy.Unwanted:
		return "is wanted no longer"
	case policy.Suspended:
		return fmt.Sprintf("was asleep for %v", e.Slept)
	case policy.Leave:
		return "is to leave"
	case policy.Woke:
		return "wakes"
	}
	return e.Kind.String()
}

func (t *Trace) effect(e *policy.Effect) string {
	switch e.Kind {
	case policy.Save:
		return "saves " + t.state(e.State)
	case policy.Send:
		return fmt.Sprintf("-> %s %s", MemberName(IndexOf(e.Msg.To)), t.message(&e.Msg))
	case policy.Run:
		return "RUN " + t.token(e.Token)
	case policy.Extend:
		return "EXTEND until " + clock(e.Until)
	case policy.Stop:
		return "STOP"
	case policy.Entrust, policy.Took, policy.Gave, policy.Gone:
	case policy.Announce:
		return "announces that it has met a token"
	case policy.Tell:
		said := t.notes.Of(e.Note).Name
		if !e.Token.ID.IsZero() {
			said += " " + t.token(e.Token)
		}
		if !e.Peer.IsZero() {
			said += ", " + MemberName(IndexOf(e.Peer))
		}
		return said
	}
	return e.Kind.String()
}

func (t *Trace) state(s policy.State) string {
	if !s.HasRun {
		return "seq " + seqText(s.Seq)
	}
	return fmt.Sprintf("seq %s, ran %s under %s", seqText(s.Seq), clock(s.LastRun), t.tokenName(wander.MemoOf(&s.Memo).Token))
}

func (t *Trace) message(m *wire.Message) string {
	var about []string
	if m.Handoff != 0 {
		about = append(about, t.handoff(m.Handoff))
	}
	switch {
	case m.Kind == wire.KindHeard || m.Kind == wire.KindSeen:
		about = append(about, time.Duration(m.Nonce).Round(time.Millisecond).String()+" ago")
	case m.Nonce != 0 && m.Kind != wire.KindBeat:
		about = append(about, t.nonce(m.Nonce))
	}
	if m.Kind != wire.KindInquiry {
		about = append(about, t.token(m.Token))
	}
	trail := &m.Token.Trail
	for i, id := range trail[:trail.Len()] {
		if i == 0 {
			about = append(about, "guarded by")
		}
		about = append(about, MemberName(IndexOf(id)))
	}
	return m.Kind.String() + "(" + strings.Join(about, " ") + ")"
}

func (t *Trace) route(m *wire.Message) string {
	return fmt.Sprintf("%s -> %s %s", MemberName(IndexOf(m.From)), MemberName(IndexOf(m.To)), t.message(m))
}

func (t *Trace) token(k wire.Token) string { return t.tokenName(k.ID) + "#" + seqText(k.Seq) }
