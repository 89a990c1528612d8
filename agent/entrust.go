package agent

import (
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/wire"
)

// lastWords are what the guard of a gate's hook is to say if this agent dies before the hook has ended.
type lastWords struct {
	words []wire.Message
	// changed says that the guard does not have them yet.
	changed bool
}

// begin begins a run: nothing has been entrusted yet.
func (l *lastWords) begin() { l.words, l.changed = l.words[:0], false }

// entrust adds a word; one without a kind takes all back.
func (l *lastWords) entrust(m *wire.Message) {
	if m.Kind == 0 {
		l.words = l.words[:0]
	} else {
		l.words = append(l.words, *m)
	}
	l.changed = true
}

// handOver signs and seals what the guard of the gate's hook is to say, and gives it to it with the members' addresses of now. A
// guard has no key, and outlives what knows them.
func (a *Agent) handOver(g *gate) {
	g.entrusted.changed = false
	if g.run == nil {
		return
	}
	words := make([]hook.Word, 0, len(g.entrusted.words))
	for i := range g.entrusted.words {
		m := &g.entrusted.words[i]
		if to, ok := a.view.Lookup(m.To); ok {
			words = append(words, hook.Word{To: to.Addr, Datagram: a.codec.Append(nil, m)})
		}
	}
	g.run.Entrust(words)
}
