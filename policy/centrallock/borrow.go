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
	m.asked, m.again = now, now.Add(m.cfg.Lease/16)
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

// giveBack gives the lock back, if it is here: its number rises, as always when it changes hands.
func (m *Machine) giveBack(now policy.Time, out []policy.Effect) []policy.Effect {
	if !m.held || m.isServer() {
		return out
	}
	out = m.gave(now, policy.CausePassed, m.cfg.Server, out)
	msg := m.message(KindRelease, m.cfg.Server, m.exchange, 0)
	msg.Token = m.token
	msg.Token.Seq = m.token.Seq.After()
	return policy.AppendSend(out, msg)
}
