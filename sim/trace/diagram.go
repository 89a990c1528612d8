package trace

import (
	"io"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Diagram writes a run as a sequence diagram in Mermaid's language. It is a [sim.Watcher]. An arrow is a message that
// arrives or is lost; a bar is an operation that runs. A note is shown unless an arrow shows the same.
type Diagram struct {
	writer
	begun   bool
	running map[int]bool
}

// NewDiagram returns a diagram that writes to w, in the words of a protocol.
func NewDiagram(w io.Writer, words Words) *Diagram {
	return &Diagram{writer: newWriter(w, words), running: map[int]bool{}}
}

// Watch implements [sim.Watcher].
func (d *Diagram) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if !d.begun {
		d.begin(c)
	}
	who := sim.MemberName(o.Member)
	d.notes, d.kinds = c.Descriptor().Notes, c.Descriptor().Kinds
	switch o.Kind {
	case sim.Stepped:
		d.step(o, who)
	case sim.Ignored:
		d.arrow("->>", o.Msg, " (not expected)")
	case sim.Lost:
		d.arrow("-x", o.Msg, " (lost)")
	case sim.Played:
		d.note(o, sim.MemberName(sim.IndexOf(o.Msg.To)), "an adversary plays "+d.message(o.Msg))
	case sim.Came, sim.Paused, sim.Slept:
		d.note(o, who, o.Kind.String()+forgot(o))
	case sim.RunGone:
		d.finish(o.Member)
		d.note(o, who, "its run is gone")
	case sim.Crashed, sim.Departed:
		if o.EndsRun() {
			d.finish(o.Member)
		}
		d.note(o, who, o.Kind.String())
	case sim.Cut, sim.Healed:
		d.note(o, sim.MemberName(0)+","+sim.MemberName(c.Members()-1), "the network is "+o.Kind.String())
	case sim.Duplicated:
	}
	return d.err
}

func (d *Diagram) begin(c *sim.Cluster) {
	d.begun = true
	d.print("sequenceDiagram")
	for i := range c.Members() {
		d.print("    participant %s", sim.MemberName(i))
	}
}

func (d *Diagram) step(o *sim.Occurrence, who string) {
	switch e := o.Event; e.Kind {
	case policy.Received:
		d.arrow("->>", &e.Msg, "")
	case policy.Finished:
		d.finish(o.Member)
		d.note(o, who, happening(e))
	case policy.Soaks, policy.Wanted, policy.Unwanted, policy.Suspended, policy.Directed, policy.Renew, policy.Leave:
		d.note(o, who, happening(e))
	case policy.Saved:
		if e.Failed {
			d.note(o, who, happening(e))
		}
	case policy.Started, policy.PeersChanged, policy.Woke:
	}
	var told []string
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Run:
			told = append(told, "RUN under "+d.token(e.Token))
		case e.Kind == policy.Stop:
			told = append(told, "STOP")
		case e.Kind == policy.Tell && !slices.Contains(d.words.Drawn, e.Note):
			told = append(told, strings.TrimSpace(d.notes.Of(e.Note).Name+" "+d.tokenIfAny(e.Token)))
		}
	}
	if len(told) > 0 {
		d.note(o, who, told...)
	}
	if o.Does(policy.Run) {
		d.running[o.Member] = true
		d.print("    activate %s", who)
	}
}

func (d *Diagram) finish(member int) {
	if d.running[member] {
		delete(d.running, member)
		d.print("    deactivate %s", sim.MemberName(member))
	}
}

func (d *Diagram) arrow(kind string, m *wire.Message, remark string) {
	d.print("    %s%s%s: %s%s", sim.MemberName(sim.IndexOf(m.From)), kind, sim.MemberName(sim.IndexOf(m.To)),
		d.message(m), remark)
}

func (d *Diagram) note(o *sim.Occurrence, over string, lines ...string) {
	d.print("    Note over %s: %s<br/>%s", over, sim.Seconds(o.At), strings.Join(lines, "<br/>"))
}

func (d *Diagram) message(m *wire.Message) string {
	kind := d.kinds.Of(m.Kind)
	s := kind.Name
	if m.Nonce != 0 && (kind.Part == policy.Accepts || kind.Part == policy.Passes) {
		s += " " + d.nonce(m.Nonce)
	}
	return strings.TrimSpace(s + " " + d.tokenIfAny(m.Token))
}

// token omits the number sign that a [Trace] has: in Mermaid it begins a comment.
func (d *Diagram) token(k wire.Ref) string { return d.tokenName(k.ID) + " seq " + seqText(k.Seq) }

func (d *Diagram) tokenIfAny(k wire.Ref) string {
	if k.ID.IsZero() {
		return ""
	}
	return d.token(k)
}
