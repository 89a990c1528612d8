package centrallock

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// ask asks the server for what is wanted, or for another lease of what runs, again and again.
func (m *Machine) ask(now policy.Time, out []policy.Effect) []policy.Effect {
	if m.phase == idle && m.wanted && !m.leaving {
		m.phase, m.exchange, m.nonce, m.again = asking, wire.Exchange(policy.Draw(m.seat.Entropy)), 0, now
	}
	if !m.asks() || now < m.again {
		return out
	}
	m.nonce++
	m.asked, m.again = now, now.Add(m.cfg.Lease/8)
	return policy.AppendSend(out, m.message(KindRequest, m.cfg.Server, m.exchange, m.nonce))
}

// asks reports whether this member asks again and again: until it has the lock, and for another lease as long as it has it.
func (m *Machine) asks() bool { return m.phase == asking || m.phase > asking && m.held }

func (m *Machine) message(kind wire.Kind, to wire.MemberID, exchange wire.Exchange, nonce wire.Nonce) *wire.Message {
	return &wire.Message{Gate: m.seat.Gate, Kind: kind, From: m.seat.Self, To: to, Exchange: exchange, Nonce: nonce}
}

// onGrant takes the lock, or another lease of it. A Grant that nobody here waits for any more is not given back: its run may go on, if it
// was that of an earlier life.
func (m *Machine) onGrant(now policy.Time, msg *wire.Message, out []policy.Effect) []policy.Effect {
	until := m.asked.Add(lease(&msg.Load))
	switch {
	case now >= until:
	case m.phase == asking:
		m.token = msg.Token
		return m.begin(now, until, m.took(now, policy.CauseReceived, msg.From, out))
	case m.held && until > m.until:
		if m.until = until; m.phase == running {
			out = policy.AppendExtend(out, &m.token, until)
		}
	}
	return out
}

// release is the message that gives a lock back: its number rises, as always when it changes hands.
func (m *Machine) release(exchange wire.Exchange, token wire.Ref) *wire.Message {
	msg := m.message(KindRelease, m.cfg.Server, exchange, 0)
	if msg.Token = token; token.Seq > 0 {
		msg.Token.Seq = token.Seq.After()
	}
	return msg
}

// giveBack gives the lock back, if it is here.
func (m *Machine) giveBack(now policy.Time, out []policy.Effect) []policy.Effect {
	if !m.held || m.isServer() {
		return out
	}
	out = m.gave(now, policy.CausePassed, m.cfg.Server, out)
	return policy.AppendSend(out, m.release(m.exchange, m.token))
}

// withdraw ends a demand that has not led to a run.
func (m *Machine) withdraw(now policy.Time, out []policy.Effect) []policy.Effect {
	switch m.phase {
	case asking:
		m.phase = idle
		return policy.AppendSend(out, m.release(m.exchange, wire.Ref{}))
	case saving:
		return m.retract(now, out)
	case idle, running:
	}
	return out
}
