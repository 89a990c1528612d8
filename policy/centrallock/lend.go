package centrallock

import (
	"encoding/binary"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// maxWaiting bounds the queue. A member that finds no place asks again.
const maxWaiting = 32

// desk is what the server knows; zero at all others.
type desk struct {
	// queue are those who wait, the first of them waiting ones.
	queue   [maxWaiting]request
	waiting int
	lent    loan
	// shut says that the lock is not there, and made at opens; making, that its number is being saved.
	shut, making bool
	opens        policy.Time
}

// request is the last one of a member, and when it came.
type request struct {
	from     wire.MemberID
	exchange wire.Exchange
	nonce    wire.Nonce
	at       policy.Time
}

// loan is to whom the lock is lent, with which number, and until when; zero if it is here or lost.
type loan struct {
	to       wire.MemberID
	exchange wire.Exchange
	end      policy.Time
}

// out reports whether a lease may still run.
func (d *desk) out(now policy.Time) bool { return !d.lent.to.IsZero() && now < d.lent.end }

func (d *desk) nextWake() policy.Time {
	switch {
	case d.shut && !d.making:
		return d.opens
	case !d.lent.to.IsZero():
		return d.lent.end
	}
	return policy.Never
}

// open makes the lock, or waits for leases of an earlier life.
func (m *Machine) open(now policy.Time, out []policy.Effect) []policy.Effect {
	m.desk.shut, m.desk.opens = true, now
	if m.state.Seq > 0 {
		m.desk.opens = now.Add(m.cfg.Lease)
	}
	return out
}

// opened: the number of the lock that is made has been saved, or not.
func (m *Machine) opened(now policy.Instant, failed bool, out []policy.Effect) []policy.Effect {
	d := &m.desk
	if !d.making {
		return out
	}
	if d.making = false; failed {
		d.opens = now.Time.Add(m.cfg.Lease)
		return out
	}
	d.shut = false
	how := policy.CauseRevived
	if m.token.Seq = m.state.Seq; m.token.ID.IsZero() {
		how = policy.CauseMade
		m.token.ID = wire.TokenID{Birth: now.Wall, Generator: m.seat.Self, Random: policy.Draw(m.seat.Entropy)}
	}
	return m.took(now.Time, how, wire.MemberID{}, out)
}

// serve lends the lock to whoever has waited for longest; the server itself comes when nobody else waits.
func (m *Machine) serve(now policy.Time, out []policy.Effect) []policy.Effect {
	d := &m.desk
	if !d.lent.to.IsZero() && now >= d.lent.end {
		out = policy.AppendTell(out, NoteExpired, d.lent.to, &m.token)
		d.lent, d.shut, d.opens = loan{}, true, now
	}
	if d.shut && now >= d.opens && !d.making {
		d.making = true
		m.state.Seq = max(m.state.Seq, m.token.Seq).NextEpoch()
		return m.save(out)
	}
	switch {
	case m.phase == running && now >= m.again:
		m.until, m.again = now.Add(m.cfg.Lease), now.Add(m.cfg.Lease/2)
		return policy.AppendExtend(out, &m.token, m.until)
	case !m.held || m.phase != idle || m.leaving:
		return out
	}
	for d.waiting > 0 {
		r := d.queue[0]
		m.forget(0)
		if now.Sub(r.at) < m.cfg.Lease/2 { // It asks four times in that.
			return m.lend(now, &r, out)
		}
	}
	if m.wanted {
		m.token.Seq, m.again = m.token.Seq.After(), now.Add(m.cfg.Lease/2)
		return m.begin(now, now.Add(m.cfg.Lease), out)
	}
	return out
}

// lend gives the lock away for a lease.
func (m *Machine) lend(now policy.Time, r *request, out []policy.Effect) []policy.Effect {
	m.desk.lent = loan{to: r.from, exchange: r.exchange}
	out = policy.AppendTell(out, NoteLent, r.from, &m.token)
	out = m.gave(now, policy.CausePassed, r.from, out)
	m.token.Seq = m.token.Seq.After()
	return m.grant(now, r, out)
}

// grant answers a Request of the borrower.
func (m *Machine) grant(now policy.Time, r *request, out []policy.Effect) []policy.Effect {
	m.desk.lent.end = now.Add(m.cfg.Lease)
	msg := m.message(KindGrant, r.from, r.exchange, r.nonce)
	msg.Token = m.token
	binary.BigEndian.PutUint64(msg.Load[:], uint64(m.cfg.Lease))
	return policy.AppendSend(out, msg)
}

// receive takes what is sent to the server, or by it.
func (m *Machine) receive(now policy.Time, msg *wire.Message, out []policy.Effect) []policy.Effect {
	switch {
	case msg.Kind == KindGrant:
		return m.onGrant(now, msg, out)
	case msg.Kind == KindRequest:
		return m.onRequest(now, request{msg.From, msg.Exchange, msg.Nonce, now}, out)
	}
	return m.onRelease(now, msg, out)
}

func (m *Machine) onRequest(now policy.Time, r request, out []policy.Effect) []policy.Effect {
	d := &m.desk
	if d.lent.to == r.from && d.lent.exchange == r.exchange {
		return m.grant(now, &r, out)
	}
	if i := d.place(r.from); i < d.waiting {
		d.queue[i] = r
	} else if d.waiting < maxWaiting {
		d.queue[d.waiting] = r
		d.waiting++
	}
	return out
}

// onRelease takes the lock back, or a request off the queue.
func (m *Machine) onRelease(now policy.Time, msg *wire.Message, out []policy.Effect) []policy.Effect {
	d := &m.desk
	if i := d.place(msg.From); i < d.waiting && d.queue[i].exchange == msg.Exchange {
		m.forget(i)
	}
	if d.lent.to != msg.From || msg.Token.ID != m.token.ID || msg.Token.Seq != m.token.Seq.After() {
		return out
	}
	d.lent, m.token = loan{}, msg.Token
	return m.took(now, policy.CauseReceived, msg.From, out)
}

// place is where in the queue a member waits; waiting, if it does not.
func (d *desk) place(id wire.MemberID) int {
	i := slices.IndexFunc(d.queue[:d.waiting], func(r request) bool { return r.from == id })
	if i < 0 {
		return d.waiting
	}
	return i
}

// forget takes a request off the queue.
func (m *Machine) forget(i int) {
	d := &m.desk
	copy(d.queue[i:], d.queue[i+1:d.waiting])
	d.waiting--
}
