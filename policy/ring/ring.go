// Package ring moves one token round a ring of members, always or on request.
//
// The protocols on request are Martin's, and Q and D of Feuerstein, Leonardi, Marchetti-Spaccamela and Santoro,
// "Efficient token-based control in rings". The protocol that always moves the token is Le Lann's, called S in that
// paper. "The n processors are assumed to be logically structured in a ring in which the communication takes place in a
// single direction, say clockwise" (section 2): next is the clockwise neighbour. Only Martin's requests go the other
// way.
//
//	martin.go    a request goes against the token's direction, at most one on a link
//	q.go         the token counts the requests that have met it, and moves while there are any
//	d.go         a request stops where another one has passed; the token makes a check-tour
//	section.go   the critical section: a run, and what is saved before it
//	token.go     what travels with the token
//	send.go      messages on a link
//	udp.go       links that lose and reorder
//	neighbour.go the live neighbours, and what follows when one crashes
//	recount.go   the tour on which the token meets again all members that wait
//
// Wanted and Unwanted are the demand. The critical section begins with Run and ends with Finished. While no member
// waits, Martin, Q and D send no message.
//
// Corrections to the paper. Q and D need links that are FIFO between the token and the requests. D as printed can move
// its token for ever while no member waits: see d.go. Members may crash: package kcopies keeps as many copies of the
// token as Backups, and Q and D count again from zero: see recount.go.
//
// Its decisions, in docs/decisions: 065.
package ring

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/wire"
)

// Request is what moves the token.
type Request uint8

const (
	// Always: the token moves all the time (Le Lann).
	Always Request = iota
	// Martin: a request goes against the direction of the token.
	Martin
	// Q: at most n messages a request, service traffic up to 3n²/2.
	Q
	// D: at most 2n messages a request, service traffic up to 3n.
	D
)

// Requests returns all values of Request.
func Requests() []Request { return []Request{Always, Martin, Q, D} }

// String returns the name that operators use.
func (r Request) String() string {
	return policy.Name([]string{Always: "always", Martin: "martin", Q: "q", D: "d"}, r)
}

// MaxMembers is the largest roster: a rank has two bytes.
const MaxMembers = 1 << 16

// Config is a gate as one member knows it.
type Config struct {
	Gate wire.GateID
	Self wire.MemberID
	// Members is the roster in the order of the ring, the same on all members, Self among them: at most MaxMembers. The
	// first one makes the token.
	Members []wire.MemberID
	Request Request
	Links   Links
	// Backups is the k of package kcopies, 0 to the number of members less 2: that many members in a row may crash.
	Backups int
	// Timeout limits how long a run waits until its start is saved. It is also the pause after a failed save, and the
	// timeout of a handoff over UDP.
	Timeout time.Duration
	// Rejoins is true if this member was in the ring in an earlier life: then it makes no token.
	Rejoins bool
	// AsksFirst is true if the gate decides whether this member may regenerate: see [Machine.AsksToRegenerate]. If it
	// is false, the member may.
	AsksFirst bool
	// Entropy draws the numbers of handoffs, requests and calls.
	Entropy policy.Entropy
	// Marks is what the rare branches of a handoff hit; nil if nobody listens.
	Marks *marks.Marker
}

// latest is the highest number that a token can have when a clock reads wall. With a higher one, this member would take
// every real token for an old one. A gate with AsksFirst numbers its tokens by ballots.
func (c *Config) latest(wall int64) wire.Seq {
	if c.AsksFirst {
		return ballot.Latest(wall)
	}
	return wire.LatestSeq(wall)
}

// state is what a member does. It changes only in become.
//
//	state    token  ends with
//	absent   no     the token
//	saving   yes    a Saved, or Timeout
//	running  yes    Finished
//	resting  yes    a request, or a demand here
//	offering yes    an Ack, or the handoff's patience: over UDP only
//	gone     no     nothing: the member has left
type state uint8

const (
	absent state = iota
	saving
	running
	resting
	offering
	gone
)

func (s state) String() string {
	return policy.Name([]string{
		absent: "absent", saving: "saving", running: "running", resting: "resting", offering: "offering", gone: "gone",
	}, s)
}

// Machine is one member's part in a ring: the processor p of the paper. It implements [policy.Machine]; on paper links
// it is a plain value.
type Machine struct {
	cfg   Config
	state state
	// T is what the token carries. It is valid while the token is here.
	T token
	// n is the number of live members. rank is this member's place in the roster; next and prev are the places of its
	// live neighbours.
	n                int
	rank, next, prev kcopies.Site
	// wanted is true while a caller here waits for a run. pending is the paper's pending request: this member has asked
	// for the token, and the token has not been here since. pending stays when the demand is withdrawn.
	wanted, pending bool
	// mp is M_p of protocol D: "a local variable M_p whose value is 1 if a request message has passed through the
	// processor after that T has passed for the last time, and 0 otherwise" (section 4).
	mp bool
	// asked and nextWants belong to Martin's protocol. asked is true if this member has asked prev, for itself or for
	// next; nextWants, if next has asked. gave is the token's number when this member last passed it on.
	asked, nextWants bool
	gave             wire.Seq
	// tour is the number of the last recounting tour that has come here. calling is the number of this member's last
	// call for a tour; it is zero if the token has been here since.
	tour, calling uint32
	// placed is true once this member has seen all other members, or in a later life at least one. met is true once it
	// has met the token.
	placed, met, leaving bool
	// asks is true while this member waits for the gate to decide whether it may make a token.
	asks bool
	// The state saving ends at until. After a denied grant, a member with a resting token tries again at until.
	until   policy.Time
	hasRun  bool
	lastRun policy.Time
	since   policy.Time
	udp     *udp
	// copies is large, and no request needs it, so it comes last.
	copies kcopies.Machine
}

var _ policy.Machine = (*Machine)(nil)

// New returns a machine that waits for Started.
func New(cfg Config) *Machine {
	m := &Machine{cfg: cfg, tour: 1}
	m.takePlace()
	if cfg.Links == UDP {
		m.udp = newUDP(&m.cfg)
	}
	return m
}

// Step applies one event.
func (m *Machine) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	switch {
	case m.state == gone:
		return out
	case ev.Kind == policy.Received && ev.Msg.Token.Seq > m.cfg.latest(now.Wall):
		return policy.AppendTell(out, NoteImpossible, ev.Msg.From, &ev.Msg.Token)
	}
	if m.udp != nil {
		out = m.stepUDP(now, ev, out)
	}
	switch ev.Kind {
	case policy.Started:
		m.hasRun, m.lastRun, m.since = ev.State.HasRun, ev.State.LastRun, now.Time
	case policy.PeersChanged:
		out = m.onPeersChanged(now, ev, out)
	case policy.Received:
		if m.udp == nil {
			out = m.onReceived(now, &ev.Msg, out)
		}
	case policy.Saved:
		out = m.onSaved(now, ev.Failed, out)
	case policy.Finished:
		out = m.onFinished(now, ev.Denied, out)
	case policy.Wanted:
		m.wanted = true
		out = m.need(now, out)
	case policy.Unwanted:
		m.wanted = false
	case policy.Soaks, policy.Directed, policy.Renew:
		// No member waits while the gate is paused; and a call finds out whether the token is lost.
	case policy.Suspended:
		// The member that answers for the token finds out whether the others have gone on without this one.
	case policy.Leave:
		out = m.onLeave(now, out)
	case policy.Woke:
		out = m.onWoke(now, out)
	}
	if m.udp != nil {
		out = m.decide(now, out)
	}
	return m.leaveIfDone(now, out)
}

// NextWake returns when Step must next be called if nothing else happens.
func (m *Machine) NextWake() (at policy.Time, ok bool) {
	at = policy.Never
	if m.state == saving || m.state == resting && m.wanted && !m.undecided() {
		at = m.until
	}
	if m.udp != nil {
		at = min(at, m.nextWakeUDP())
	}
	return at, at != policy.Never
}

// Expects reports whether a message could change anything now.
func (m *Machine) Expects(msg *wire.Message) bool {
	switch {
	case m.state == gone:
		return false
	case msg.Kind == KindRequest:
		return true
	case m.udp != nil && handoff.Owns(msg.Kind):
		return m.udp.handoff.Expects(msg)
	}
	return m.udp != nil && msg.Kind == KindReceipt || m.copies.Expects(msg)
}

// holds reports whether p has T.
func (m *Machine) holds() bool { return m.state != absent && m.state != gone }

// become is the only place where the state changes.
func (m *Machine) become(next state) { m.state = next }

func (m *Machine) onReceived(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	if msg.Kind == KindRequest {
		return m.onRequest(now, m.requestOf(now, msg), out)
	}
	if st, _ := kcopies.Fields(&msg.Load); m.cfg.Rejoins && !m.met && st != m.rank {
		// The copy may belong to an earlier life, and be older than what that life knew. From now on only the token
		// itself shows its number.
		return out
	}
	var end kcopies.Outcome
	held := m.holds()
	if out = m.copies.Receive(msg, &end, out); held && end.Ending == kcopies.Delivered {
		// This token was under way from a crashed member when this member, alone, made one: both are one token, with
		// the greater number.
		return out
	}
	return m.onCopies(now, msg.From, &end, out)
}

func (m *Machine) onWoke(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case now.Time < m.until:
	case m.state == saving:
		return m.deny(now, out)
	case m.state == resting:
		return m.need(now, out)
	}
	return out
}

// need is rule 1 of Q and D. "When p needs the resource then: If p has T then it enters the critical section. If p has
// not T then it sends a request message to the next processor" (section 3). "W.l.o.g., we also assume that a processor
// can ask again the resource only after that the previous request has been satisfied" (section 2).
func (m *Machine) need(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case !m.wanted || m.pending || m.leaving || m.undecided():
		return out
	case m.state == resting && now.Time >= m.until:
		return m.enter(now, out)
	case m.holds():
		return out // The critical section continues: exit decides after it.
	}
	m.pending = true
	if m.udp != nil {
		m.udp.rounds = 0
	}
	switch m.cfg.Request {
	case Always:
	case Martin:
		return m.martinAsks(out)
	case Q:
		return m.qAsks(out)
	case D:
		return m.dAsks(out)
	}
	return out
}

// onRequest is rule 2 of Q, 2 and 3 of D: "when p receives a request message".
func (m *Machine) onRequest(now policy.Instant, r request, out []policy.Effect) []policy.Effect {
	switch {
	case r.call != 0:
		return m.onCall(now, r, out)
	case m.cfg.AsksFirst && m.udp.hasCircled(m, r):
		return out
	case m.cfg.Request == Martin:
		out = m.martinHears(r, out)
	case m.cfg.Request == Q:
		out = m.qHears(r, out)
	case m.cfg.Request == D:
		out = m.dHears(out)
	}
	if m.state == resting {
		return m.moveOn(now, out)
	}
	return out
}

// onCopies is rule 3 of Q, 4 and 5 of D: "when p receives T".
func (m *Machine) onCopies(now policy.Instant, from wire.MemberID, end *kcopies.Outcome,
	out []policy.Effect,
) []policy.Effect {
	switch end.Ending {
	case kcopies.Pending:
	case kcopies.MayRegenerate:
		return m.mayRegenerate(now, out)
	case kcopies.Delivered:
		m.T.read(&end.Data, len(m.cfg.Members))
		m.calling, m.asks = 0, false
		out = policy.AppendTook(out, policy.CauseReceived, from, &end.Token)
		switch m.cfg.Request {
		case Always:
		case Martin:
			m.martinMeets()
		case Q:
			m.qMeets()
		case D:
			m.dMeets()
		}
		return m.serve(now, out)
	case kcopies.Regenerated:
		m.T.read(&end.Data, len(m.cfg.Members))
		return m.revive(now, out)
	}
	return out
}

// serve serves this member if it waits, or lets the token go on.
func (m *Machine) serve(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.become(resting)
	m.until = now.Time
	if !m.met {
		m.met = true
		out = append(out, policy.Effect{Kind: policy.Announce})
	}
	if m.wanted && !m.leaving {
		return m.enter(now, out)
	}
	return m.exit(now, out)
}

// exit follows the critical section, or the visit of a token for which this member does not wait. The token goes on, or
// rests.
func (m *Machine) exit(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.pending = false
	m.become(resting)
	return m.need(now, m.moveOn(now, out))
}

// moveOn passes the token on, unless its protocol keeps it here, or no other member is live.
func (m *Machine) moveOn(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.n < 2 || !m.leaving && !m.moves() {
		return out
	}
	m.since = now.Time
	return m.need(now, m.pass(now, out))
}

// moves reports whether T is to go on from here.
func (m *Machine) moves() bool {
	switch m.cfg.Request {
	case Always:
		return true
	case Martin:
		return m.nextWants || m.T.left > 0
	case Q:
		return m.T.counter > 0 || m.T.left > 0
	case D:
		return m.T.counter > 0
	}
	return false
}
