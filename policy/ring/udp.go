package ring

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// Over UDP the token moves by package handoff, and a request is acknowledged hop by hop, repeated until then, numbered by its origin, and taken
// once for each (origin, number).
//
// Q and D need links that are FIFO between token and requests: a request that overtakes a handoff can lap the ring while the token is under
// way, and messages per request then have no bound. So a member with an open handoff, on either side, keeps a request until the
// handoff is decided. The token may overtake a request: that request follows it, as if it had been made behind it.
//
// A receiver whose Commit does not come does the same as after a crash: the token is with its sender, or lost.

// Links says what is between the members.
type Links uint8

const (
	// Paper links are FIFO and lose nothing: a hop of the token is one message, and so is a hop of a request.
	Paper Links = iota
	// UDP loses, repeats and reorders: a hop of the token is a handoff.
	UDP
)

// String returns the name that operators use.
func (l Links) String() string {
	if l == UDP {
		return "udp"
	}
	return "paper"
}

// udp is what a member needs over UDP besides: nil on paper links.
type udp struct {
	handoff handoff.Machine
	// offeredTo is to whom the token is on offer.
	offeredTo kcopies.Site
	// number is of this member's last request. Its upper half differs from life to life.
	number uint64
	// heard are the last numbers of each origin's lives, kept the requests that came while a handoff was open, outbox those that are to be sent.
	heard        []lives
	kept, outbox []request
	// sent says that the first of the outbox has been sent to sentTo, and is sent again after wait from sentAt on.
	sent   bool
	sentTo kcopies.Site
	sentAt policy.Time
	wait   time.Duration
	// took and left came with the last token: see handoff.Outcome.
	took, left time.Duration
	// rounds is how often this member's request has come back to it.
	rounds uint8
	// calls says that this member is to call when no handoff is open any longer.
	calls bool
}

// lives are the last numbers of an origin in as many of its lives, the last heard first. Messages of several lives are under way at one time if it
// crashes again and again. If only one were remembered, each would make the repeated ones of the others look new: they would
// become more at each hop.
type lives [4]uint64

// isOld reports whether a number has been heard, and remembers it. Those of a life come in their order.
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
	return &udp{
		handoff: handoff.New(handoff.Config{Gate: cfg.Gate, Self: cfg.Self, Timeout: cfg.Timeout, Entropy: cfg.Entropy}),
		number:  cfg.Entropy.Uint64() &^ (1<<32 - 1),
		heard:   make([]lives, len(cfg.Members)),
		kept:    make([]request, 0, len(cfg.Members)), outbox: make([]request, 0, len(cfg.Members)),
	}
}

// undecided reports whether a handoff is open, on either side.
func (m *Machine) undecided() bool {
	return m.udp != nil && (m.state == offering || m.udp.handoff.Receiving())
}

// post queues a request that is to be sent. One that has been round the ring comes to its origin, which gives it a new number.
func (u *udp) post(m *Machine, r request) {
	if r.number == 0 || r.origin == m.rank {
		u.number++
		r.origin, r.number = m.rank, u.number
	}
	u.outbox = append(u.outbox, r)
}

// hasCircled reports whether a request is this member's own and has been round the ring twice. A gate that must ask before it makes a token may have
// none for long, so its requests end; who waits makes a proposal.
func (u *udp) hasCircled(m *Machine, r request) bool {
	if r.origin != m.rank || m.holds() {
		return false
	}
	u.rounds++
	return !m.pending || u.rounds > 1
}

// repeats is when the first of the outbox is sent again.
func (u *udp) repeats() policy.Time { return u.sentAt.Add(u.wait) }

// pump sends the first of the outbox, unless it has been sent or a handoff is open.
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

// onReceipt ends a request's way from here: a neighbour has taken it.
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
	r, u := requestOf(msg), m.udp
	if int(r.origin) >= len(u.heard) || m.goesPast(r, msg.From) {
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

// goesPast reports whether a call has come late, past a member that has come meanwhile. Of two members that call, only one makes a token, because
// each call goes by all members. So it is not taken, and its sender repeats it to the member that is next now. A gate that asks first
// makes no second token anyway.
func (m *Machine) goesPast(r request, from wire.MemberID) bool {
	return r.call != 0 && !m.cfg.AsksFirst && from != m.cfg.Members[m.prev]
}

// isOld reports whether a message has been taken before. What goes round comes from each origin in the order of its numbers. Martin's requests go the
// other way, may be sooner here than what has gone round, and do no harm when they come again.
func (m *Machine) isOld(r request) bool {
	if m.cfg.Request == Martin && r.call == 0 {
		return false
	}
	return m.udp.heard[r.origin].isOld(r.number)
}

// onHandoff is what the end of a handoff leads to.
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

// takeOverCalls makes the calls that have waited for the end of a handoff one of this member's own, made behind the token: a member that has
// come while the token was on offer is next now, and the token has gone to the one beyond it. In its second round a call has met the token
// here: as it was, it would make the members behind it discard their copies.
func (u *udp) takeOverCalls() {
	u.kept = slices.DeleteFunc(u.kept, func(r request) bool {
		u.calls = u.calls || r.call != 0
		return r.call != 0
	})
}

// decide goes on with what has waited for the end of a handoff.
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

// stepUDP is a step of what there is over UDP besides.
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
	case policy.PeersChanged, policy.Started, policy.Saved, policy.Finished, policy.Wanted, policy.Unwanted, policy.Suspended, policy.Ordered:
	}
	out = m.onHandoff(now, &end, out)
	u.calls = u.calls || waited && !u.handoff.Receiving() && end.Ending != handoff.Arrived
	return out
}

// nextWakeUDP is when what there is over UDP is due.
func (m *Machine) nextWakeUDP() (at policy.Time, ok bool) {
	u := m.udp
	at, ok = u.handoff.NextWake()
	if u.sent && !m.undecided() && m.n > 1 && (!ok || u.repeats() < at) {
		at, ok = u.repeats(), true
	}
	return at, ok
}
