package kcopies

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Receive takes a TOKEN message.
func (m *Machine) Receive(msg *wire.Message, end *Outcome, out []policy.Effect) []policy.Effect {
	return m.Arrived(&msg.Token, &msg.Load, msg.From, end, out)
}

// Arrived is SafeReceiveToken (lines 22–33). If the real token did not come as a TOKEN message, ref and l are what Hop
// returned at the sender.
func (m *Machine) Arrived(ref *wire.Ref, l *wire.Load, from wire.MemberID, end *Outcome,
	out []policy.Effect,
) []policy.Effect {
	st, data := Fields(l)
	if !m.isNamed(ref.ID) || m.count >= ref.Seq || !m.inReach(st) { // line 23
		return policy.AppendTell(out, NoteOldToken, from, ref)
	}
	m.count, m.id = ref.Seq, ref.ID // line 24
	if st == m.cfg.Self {
		m.become(Real, st) // lines 25–27
		m.deliver(Delivered, data, end)
		return out
	}
	m.become(Backup, st) // lines 25 and 32
	m.data = *data
	out = m.tell(NoteCopy, from, out)
	return m.ask(end, out) // lines 29 and 30
}
