package ring

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// Over UDP the token moves by package handoff. A member repeats a request until the next hop acknowledges it. The
// origin numbers its requests, and each member takes a request once for each (origin, number).
//
// Q and D need links that are FIFO between token and requests: otherwise a request can overtake a handoff and lap the
// ring while the token is under way, and the messages per request have no bound. So a member with an open handoff, as
// sender or receiver, keeps a request until the handoff is decided. The token may overtake a request: the request then
// follows the token, as if it had been made behind the token.
//
// A receiver that gets no Commit acts as after a crash: the token is with its sender, or lost.

// Links is the kind of links between the members.
type Links uint8

const (
	// Paper links are FIFO and lose nothing: a hop of the token is one message, and so is a hop of a request.
	Paper Links = iota
	// UDP loses, repeats and reorders: a hop of the token is a handoff.
	UDP
)

// String returns the name that operators use.
func (l Links) String() string {
	return policy.Name([]string{Paper: "paper", UDP: "udp"}, l)
}

// udp is the state that a member needs only over UDP; it is nil on paper links.
type udp struct {
	handoff handoff.Machine
	// offeredTo is the member to which the token is offered.
	offeredTo kcopies.Site
	// number is the number of this member's last request. Its upper half differs from life to life.
	number uint64
	// heard has the last numbers of each origin's lives. kept has the requests that came during an open handoff, outbox
	// the requests to be sent.
	heard        []lives
	kept, outbox []request
	// sent is true if the first request in the outbox was sent to sentTo at sentAt. It is sent again after wait.
	sent   bool
	sentTo kcopies.Site
	sentAt policy.Time
	wait   time.Duration
	// took and left came with the last token: see handoff.Outcome.
	took, left time.Duration
	// rounds is how often this member's request has come back to it.
	rounds uint8
	// calls is true if this member calls for a tour as soon as no handoff is open.
	calls bool
}

// lives has the last number of an origin in each of its last lives, the last heard first. If the origin crashes again
// and again, messages of several lives are under way at one time. With only one remembered number, a message of one
// life would make the repeated messages of the other lives look new: they would multiply at each hop.
type lives [4]uint64

// isOld reports whether a number has been heard, and remembers it. The numbers of one life come in their order.
func (l *lives) isOld(number uint64) bool {
	i := slices.IndexFunc(l[:], func(last uint64) bool { return last>>32 == number>>32 })
	if i >= 0 && number <= l[i] {
		return true
	}
	if i < 0 {
		i = len(l) - 1
	}
	copy(l[1:i+1], l[:i])
	l[0] = number
	return false
}

func newUDP(cfg *Config) *udp {
	u := &udp{
		handoff: handoff.New(handoff.Config{
			Gate: cfg.Gate, Self: cfg.Self, Timeout: cfg.Timeout, Entropy: cfg.Entropy, Marks: cfg.Marks,
		}),
		heard: make([]lives, len(cfg.Members)),
		kept:  make([]request, 0, len(cfg.Members)), outbox: make([]request, 0, len(cfg.Members)),
	}
	u.number = cfg.Entropy.Uint64() &^ (1<<32 - 1)
	return u
}

// newLife begins another life of this member's numbers. A member that has heard a forged number above all numbers of
// the former life accepts the new ones.
func (u *udp) newLife() { u.number = (u.number>>32 + 1) << 32 }

// undecided reports whether a handoff is open, on either side.
func (m *Machine) undecided() bool {
	return m.udp != nil && (m.state == offering || m.udp.handoff.Receiving())
}

// post queues a request to be sent. When a request has been round the ring, its origin gives it a new number.
func (u *udp) post(m *Machine, r request) {
	if r.number == 0 || r.origin == m.rank {
		u.number++
		r.origin, r.number = m.rank, u.number
	}
	u.outbox = append(u.outbox, r)
}

// hasCircled reports whether a request is this member's own and has been round the ring twice. A gate with AsksFirst
// may have no token for long, so its requests end; a waiting member then proposes.
func (u *udp) hasCircled(m *Machine, r request) bool {
	if r.origin != m.rank || m.holds() {
		return false
	}
	u.rounds++
	return !m.pending || u.rounds > 1
}

// repeats is when the first request of the outbox is sent again.
func (u *udp) repeats() policy.Time { return u.sentAt.Add(u.wait) }

// pump sends the first request of the outbox, unless it has been sent or a handoff is open.
func (m *Machine) pump(now policy.Time, out []policy.Effect) []policy.Effect {
	u := m.udp
	if len(u.outbox) == 0 || m.undecided() || m.n == 1 {
		return out
	}
	r := &u.outbox[0]
	to := m.next
	if r.back {
		to = m.prev
	}
	switch {
	case !u.sent || u.sentTo != to:
		u.sent, u.sentTo, u.wait = true, to, m.cfg.Timeout/8
	case now >= u.repeats():
		r.again, u.wait = true, min(2*u.wait, m.cfg.Timeout)
	default:
		return out
	}
	u.sentAt = now
	return m.transmit(to, *r, out)
}

// onReceipt removes a request from the outbox, because a neighbour has taken it.
func (m *Machine) onReceipt(r request) {
	u := m.udp
	if !u.sent || u.outbox[0].origin != r.origin || u.outbox[0].number != r.number {
		return
	}
	u.sent = false
	u.outbox = u.outbox[:copy(u.outbox, u.outbox[1:])]
}

// onDatagram takes a request once, and acknowledges it each time.
func (m *Machine) onDatagram(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	r, u := m.requestOf(now, msg), m.udp
	if int(r.origin) >= len(u.heard) || m.goesPast(r, msg.From) || u.isFull() {
		return out
	}
	receipt := wire.Message{Gate: m.cfg.Gate, Kind: KindReceipt, From: m.cfg.Self, To: msg.From, Load: msg.Load}
	out = policy.AppendSend(out, &receipt)
	if m.isOld(r) {
		return out
	}
	r.again = false
	if m.undecided() {
		u.kept = append(u.kept, r)
		return out
	}
	return m.onRequest(now, r, out)
}

// isFull reports whether no more requests are taken for now. Their senders repeat them. A member has a request and a
// call or two under way at a time, each of which is here once, so only a flood of forged requests fills the queues.
func (u *udp) isFull() bool { return len(u.kept)+len(u.outbox) >= 8*len(u.heard) }

// goesPast reports whether a late call has skipped a member that has come meanwhile. Of two members that call, only one
// makes a token, because each call visits all members. So this member does not take such a call, and the sender repeats
// it to the member that is its next now. A gate with AsksFirst makes no second token anyway.
func (m *Machine) goesPast(r request, from wire.MemberID) bool {
	return r.call != 0 && !m.cfg.AsksFirst && from != m.cfg.Members[m.prev]
}

// isOld reports whether a message has been taken before. Messages in the token's direction come in the order of their
// origin's numbers. Martin's requests go the other way. They may come before messages that go round, and do no harm
// when they come again.
func (m *Machine) isOld(r request) bool {
	if m.cfg.Request == Martin && r.call == 0 {
		return false
	}
	return m.udp.heard[r.origin].isOld(r.number)
}

func (m *Machine) onHandoff(now policy.Instant, end *handoff.Outcome, out []policy.Effect) []policy.Effect {
	switch end.Ending {
	case handoff.Pending:
	case handoff.Passed:
		data := m.T.data()
		out = m.copies.Hopped(m.udp.offeredTo, &data, out)
		m.passed()
		m.udp.takeOverCalls()
	case handoff.Failed:
		m.become(resting)
		m.until = now.Time
		if out = m.need(now, out); m.state == resting {
			out = m.moveOn(now, out)
		}
	case handoff.Arrived:
		var copied kcopies.Outcome
		m.udp.took, m.udp.left = end.Took, end.Left
		out = m.copies.Arrived(&end.Token, &end.Load, end.Peer, &copied, out)
		out = m.onCopies(now, end.Peer, &copied, out)
	}
	return out
}

// takeOverCalls replaces the calls that have waited for the end of a handoff by one call of this member, behind the
// token. If a member has come while the token was on offer, that member is next now, and the token has gone to the
// member beyond. A call in its second round has met the token here: unchanged, it would make later members discard
// their copies.
func (u *udp) takeOverCalls() {
	u.kept = slices.DeleteFunc(u.kept, func(r request) bool {
		u.calls = u.calls || r.call != 0
		return r.call != 0
	})
}

// decide handles the requests and calls that have waited for the end of a handoff.
func (m *Machine) decide(now policy.Instant, out []policy.Effect) []policy.Effect {
	u := m.udp
	for len(u.kept) > 0 && !m.undecided() {
		r := u.kept[0]
		u.kept = u.kept[:copy(u.kept, u.kept[1:])]
		out = m.onRequest(now, r, out)
	}
	if u.calls && !m.undecided() {
		u.calls = false
		out = m.call(now, out)
	}
	return m.pump(now.Time, m.need(now, out))
}

// stepUDP is the part of Step that only UDP needs.
func (m *Machine) stepUDP(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	u := m.udp
	var end handoff.Outcome
	waited := u.handoff.Receiving()
	switch ev.Kind {
	case policy.Received:
		switch msg := &ev.Msg; {
		case handoff.Owns(msg.Kind):
			out = u.handoff.Receive(now.Time, msg, &end, out)
		case msg.Kind == KindReceipt:
			m.onReceipt(requestOf(msg))
		case msg.Kind == KindRequest:
			out = m.onDatagram(now, msg, out)
		default:
			out = m.onReceived(now, msg, out)
		}
	case policy.Woke:
		out = u.handoff.Wake(now.Time, &end, out)
	case policy.Leave:
		u.handoff.Close()
	case policy.PeersChanged, policy.Started, policy.Saved, policy.Finished, policy.Wanted, policy.Unwanted,
		policy.Soaks, policy.Suspended, policy.Directed, policy.Renew:
	}
	out = m.onHandoff(now, &end, out)
	u.calls = u.calls || waited && !u.handoff.Receiving() && end.Ending != handoff.Arrived
	return out
}

func (m *Machine) nextWakeUDP() policy.Time {
	u, at := m.udp, policy.Never
	if t, ok := u.handoff.NextWake(); ok {
		at = t
	}
	if u.sent && !m.undecided() && m.n > 1 {
		at = min(at, u.repeats())
	}
	if quiet, ok := u.handoff.QuietAt(); ok && m.leaving && m.state == absent && len(u.outbox) == 0 {
		at = min(at, quiet)
	}
	return at
}
