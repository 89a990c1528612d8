package transpeer

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// Step handles one event.
func (m *Router) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	switch ev.Kind {
	case policy.Received:
		if ev.Msg.Kind == KindTransaction {
			if !wellFormed(&ev.Msg) || len(m.waiting) >= MaxTransactions { // Each number has its bit in the history.
				return out
			}
			m.waiting = append(m.waiting, transaction{client: ev.Msg.From, number: int(ev.Msg.Token.Seq)})
			return out
		}
		return m.hear(now.Time, ev, out)
	case policy.Started, policy.PeersChanged:
		return m.hear(now.Time, ev, out)
	case policy.Woke:
		if m.serving && now.Time >= m.until {
			return m.onPerformed(now.Time, out)
		}
	case policy.Saved, policy.Finished, policy.Soaks, policy.Wanted, policy.Unwanted, policy.Suspended,
		policy.Directed, policy.Renew, policy.Leave:
	}
	return out
}

// hear gives the token an event, because of which it may come here. The history of a copy has every transaction that
// was answered.
func (m *Router) hear(now policy.Time, ev *policy.Event, out []policy.Effect) []policy.Effect {
	var end kcopies.Outcome
	came, out := m.Hear(ev, &end, out)
	if came == 0 {
		return out
	}
	m.history = History(end.Data)
	return m.serve(now, out)
}

// serve begins the next transaction, or passes the token on if there is none.
func (m *Router) serve(now policy.Time, out []policy.Effect) []policy.Effect {
	for len(m.waiting) > 0 && m.history.Has(m.waiting[0].number) {
		out = policy.AppendTell(out, NoteKnown, m.waiting[0].client, &wire.Ref{Seq: wire.Seq(m.waiting[0].number)})
		m.take()
	}
	if len(m.waiting) == 0 {
		return m.pass(out)
	}
	m.serving, m.until = true, now.Add(m.service)
	return out
}

// take moves the first waiting transaction to those that are to be answered.
func (m *Router) take() {
	m.performed = append(m.performed, m.waiting[0])
	copy(m.waiting, m.waiting[1:])
	m.waiting = m.waiting[:len(m.waiting)-1]
}

func (m *Router) onPerformed(now policy.Time, out []policy.Effect) []policy.Effect {
	m.serving = false
	t := m.waiting[0]
	m.history.Add(t.number)
	out = policy.AppendTell(out, NotePerformed, t.client, &wire.Ref{Seq: wire.Seq(t.number)})
	m.take()
	return m.serve(now, out)
}

// pass passes the token and its copies on, and then answers.
func (m *Router) pass(out []policy.Effect) []policy.Effect {
	data := kcopies.Data(m.history)
	out = m.Pass(&data, out)
	for _, t := range m.performed {
		done := message(KindDone, m.Ring.Gate, m.Ring.Ring[m.Ring.Self], t.client, t.number)
		out = policy.AppendSend(out, &done)
	}
	m.performed = m.performed[:0]
	return out
}

// NextWake returns when the transaction in progress is done.
func (m *Router) NextWake() (at policy.Time, ok bool) { return m.until, m.serving }

// Expects reports whether msg could change anything now.
func (m *Router) Expects(msg *wire.Message) bool {
	return msg.Kind == KindTransaction || m.Copies.Expects(msg)
}

// Status describes this router.
func (m *Router) Status(policy.Time) policy.Status {
	s := policy.Status{Phase: m.Copies.Token().String(), Why: "nothing runs under this token", NextRun: policy.Never}
	m.Copies.Tell(&s)
	return s
}

// Facts appends nothing.
func (m *Router) Facts(_ policy.Time, out []policy.Fact) []policy.Fact { return out }
