package centrallock

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// loan is to whom the server has lent the lock, and until when. To nobody: the server waits until then before it makes a lock.
type loan struct {
	to       wire.MemberID
	exchange wire.Exchange
	end      policy.Time
}

// isOut reports whether a lease may still run.
func (m *Machine) isOut(now policy.Time) bool { return !m.lent.to.IsZero() && now < m.lent.end }

// onMade: the number of the lock that is made has been saved, or not.
func (m *Machine) onMade(now policy.Instant, failed bool, out []policy.Effect) []policy.Effect {
	if m.making = false; failed {
		m.lent.end = now.Time.Add(m.cfg.Lease)
		return out
	}
	how := policy.CauseRevived
	if m.token.Seq = m.state.Seq; m.token.ID.IsZero() {
		how = policy.CauseMade
		m.token.ID = wire.TokenID{Birth: now.Wall, Generator: m.seat.Self, Random: policy.Draw(m.seat.Entropy)}
	}
	return m.took(now.Time, how, wire.MemberID{}, out)
}

// serve makes the lock if it is lost, and takes care of the server's own demand.
func (m *Machine) serve(now policy.Time, out []policy.Effect) []policy.Effect {
	switch {
	case !m.held && !m.making && now >= m.lent.end:
		if !m.lent.to.IsZero() {
			out = policy.AppendTell(out, NoteExpired, m.lent.to, &m.token)
		}
		m.lent, m.making = loan{}, true
		m.state.Seq = max(m.state.Seq, m.token.Seq).NextEpoch()
		return m.save(out)
	case m.phase == running && now >= m.again:
		m.until, m.again = now.Add(m.cfg.Lease), now.Add(m.cfg.Lease/2)
		return policy.AppendExtend(out, &m.token, m.until)
	case m.wanted && m.isFree():
		m.token.Seq, m.again = m.token.Seq.After(), now.Add(m.cfg.Lease/2)
		return m.begin(now, now.Add(m.cfg.Lease), out)
	}
	return out
}

// isFree reports whether the lock is at the server, and unused.
func (m *Machine) isFree() bool { return m.held && m.phase == idle && !m.leaving }

// onRequest lends the lock to whoever asks while it is free. Another Request of the borrower gets another lease.
func (m *Machine) onRequest(now policy.Time, msg *wire.Message, out []policy.Effect) []policy.Effect {
	if m.isFree() {
		m.lent = loan{to: msg.From, exchange: msg.Exchange}
		out = policy.AppendTell(out, NoteLent, msg.From, &m.token)
		out = m.gave(now, policy.CausePassed, msg.From, out)
		m.token.Seq = m.token.Seq.After()
	}
	if m.lent.to != msg.From || m.lent.exchange != msg.Exchange {
		return out
	}
	m.lent.end = now.Add(m.cfg.Lease)
	grant := m.message(KindGrant, msg.From, msg.Exchange, msg.Nonce)
	grant.Token = m.token
	binary.BigEndian.PutUint64(grant.Load[:], uint64(m.cfg.Lease))
	return policy.AppendSend(out, grant)
}

// onRelease takes the lock back.
func (m *Machine) onRelease(now policy.Time, msg *wire.Message, out []policy.Effect) []policy.Effect {
	if m.lent.to != msg.From || msg.Token.ID != m.token.ID || msg.Token.Seq != m.token.Seq.After() {
		return out
	}
	m.lent, m.token = loan{}, msg.Token
	return m.took(now, policy.CauseReceived, msg.From, out)
}
