package gate

import (
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/wire"
)

// preSigned are the messages that the hook's guard sends if this agent dies before the hook has ended.
type preSigned struct {
	words []wire.Message
	// changed is true until the guard has them.
	changed bool
}

// begin starts a run without messages.
func (l *preSigned) begin() { l.words, l.changed = l.words[:0], false }

// add adds a message; a message without a kind clears the list.
func (l *preSigned) add(m *wire.Message) {
	if m.Kind == 0 {
		l.words = l.words[:0]
	} else {
		l.words = append(l.words, *m)
	}
	l.changed = true
}

// handOver signs and seals the messages and gives them to the hook's guard, with the current addresses of the members.
// A guard has no key, and does not know the members.
func (g *Gate) handOver() {
	g.preSigned.changed = false
	if g.run == nil {
		return
	}
	words := make([]hook.Word, 0, len(g.preSigned.words))
	for i := range g.preSigned.words {
		m := &g.preSigned.words[i]
		if to, ok := g.env.Fleet.Lookup(g.id, m.To); ok {
			words = append(words, hook.Word{To: to.Addr, Datagram: g.env.Fleet.Seal(m)})
		}
	}
	g.run.tell(func(run HookRun) { run.PreSigned(words) })
}
