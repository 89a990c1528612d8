// Package centrallock is an example for tests: the smallest protocol that shares nothing with the soft gate. One member is the server
// and lends a lock; the others ask for it, run, and give it back. It proves that shells, simulator and general checkers know no
// protocol: it runs on demand, its grants have an end that can be extended, and it has its own messages, notes, facts and memo. No command
// uses it. It does not survive the loss of its server. There is no queue: a request is repeated until it is served.
//
// The server lends the token for a lease, and considers it lost when the lease is over. A borrower counts its lease from when it sent
// the request that was answered, so its run has ended by the time the server lends again. A server that was restarted waits for a
// lease before it lends, because it has forgotten to whom it lent.
package centrallock

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

const (
	// KindRequest asks the server for the lock, or for another lease of it. Exchange is that of the demand, Nonce counts its requests.
	KindRequest wire.Kind = iota + 64
	// KindGrant answers a Request: the lock is lent for as long as the load says, from when that Request was sent.
	KindGrant
	// KindRelease gives the lock back.
	KindRelease
)

const (
	// NoteLent: the server lends the lock to Peer.
	NoteLent policy.Note = iota + 64
	// NoteExpired: a lease is over and the lock was not given back.
	NoteExpired
	// NoteDenied: a run was not saved in time.
	NoteDenied
)

// Settings are those of a gate. It implements [policy.Protocol].
type Settings struct {
	// Server is the member that lends the lock; zero stands for the member itself.
	Server wire.MemberID
	// Lease is for how long.
	Lease time.Duration
}

var _ policy.Protocol = Settings{}

// Family is the central lock, as shells and simulator know it.
func (Settings) Family() policy.Family {
	return policy.Family{
		ID: 255, Name: "centrallock", Version: 1, WellFormed: wellFormed,
		Kinds: policy.Kinds{
			{Kind: KindRequest, Name: "Request"},
			{Kind: KindGrant, Name: "Grant", Part: policy.Passes},
			{Kind: KindRelease, Name: "Release", Part: policy.Passes},
		},
		Notes: policy.Notes{
			{Note: NoteLent, Name: "lent", Text: "lent the lock"},
			{Note: NoteExpired, Name: "expired", Text: "the lease is over, and the lock was not given back", Level: policy.Warn},
			{Note: NoteDenied, Name: "denied", Text: "the run was not saved in time", Level: policy.Warn, Denied: true},
		},
	}
}

// Machine returns the machine of a member.
func (s Settings) Machine(seat policy.Seat) policy.Machine { return New(s, seat) }

// SaveWithin is a quarter of a lease.
func (s Settings) SaveWithin() time.Duration { return s.Lease / 4 }

// OrphanGrace is a quarter of a lease.
func (s Settings) OrphanGrace() time.Duration { return s.Lease / 4 }

// wellFormed reports whether m is one of the three kinds, and has what those of its kind have.
func wellFormed(m *wire.Message) bool {
	switch {
	case m.Kind == KindRequest:
		return m.Exchange != 0 && m.Nonce != 0
	case m.Kind == KindGrant:
		return m.Exchange != 0 && m.Token.IsWhole() && lease(&m.Load) > 0
	}
	return m.Kind == KindRelease && m.Exchange != 0 && m.Token.IsWhole()
}

// lease reads the lease of a Grant.
func lease(l *wire.Load) time.Duration { return time.Duration(binary.BigEndian.Uint64(l[:])) }

// phase is what a member does with its demand.
type phase uint8

const (
	// idle: there is none.
	idle phase = iota
	// asking: the server has been asked.
	asking
	// saving: the lock is here, and that it runs is on its way to the disk.
	saving
	// running: the operation goes on.
	running
)

func (p phase) String() string { return [...]string{"idle", "asking", "saving", "running"}[p] }

// Machine is one member. It is a plain value.
type Machine struct {
	cfg  Settings
	seat policy.Seat
	// state was saved last, served is its memo: how many runs have ended here.
	state  policy.State
	served uint64
	phase  phase
	// token is the lock as it is here, if held says so, or as it was here last; since is when that changed.
	token                 wire.Ref
	held                  bool
	since                 policy.Time
	wanted, leaving, gone bool
	// exchange is that of the demand; nonce counts its requests, the last of which was sent at asked. again is when to ask again.
	exchange     wire.Exchange
	nonce        wire.Nonce
	asked, again policy.Time
	// until is when the lock has to be given up, startBy when a run that waits to be saved is denied; before is what was saved before.
	until, startBy policy.Time
	before         policy.State
	// lent is what the server knows of a lock that is not there; making says that the number of a new one is being saved.
	lent   loan
	making bool
}

// New returns the machine of a member, which waits for Started.
func New(cfg Settings, seat policy.Seat) *Machine {
	if cfg.Server.IsZero() {
		cfg.Server = seat.Self
	}
	return &Machine{cfg: cfg, seat: seat}
}

func (m *Machine) isServer() bool { return m.cfg.Server == m.seat.Self }

// Step takes one event; see [policy.Machine].
func (m *Machine) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	t := now.Time
	if ev.Kind == policy.Received && !m.Expects(&ev.Msg) {
		return out
	}
	if m.held && !m.isServer() && t >= m.until { // What is over is over, whatever comes now.
		out = m.lose(t, out)
	}
	switch ev.Kind {
	case policy.Started:
		m.state, m.served, m.since = ev.State, binary.BigEndian.Uint64(ev.State.Memo[:]), t
		if m.lent.end = t; m.state.Seq > 0 { // It may have lent the lock in an earlier life.
			m.lent.end = t.Add(m.cfg.Lease)
		}
	case policy.Received:
		switch ev.Msg.Kind {
		case KindRequest:
			out = m.onRequest(t, &ev.Msg, out)
		case KindGrant:
			out = m.onGrant(t, &ev.Msg, out)
		default:
			out = m.onRelease(t, &ev.Msg, out)
		}
	case policy.Wanted:
		m.wanted = true
	case policy.Unwanted:
		m.wanted = false
		out = m.withdraw(t, out)
	case policy.Saved:
		out = m.onSaved(now, ev.Failed, out)
	case policy.Finished:
		m.phase = idle
		m.served++
		out = m.giveBack(t, out)
	case policy.Leave:
		m.leaving = true
		if out = m.withdraw(t, out); m.phase == running {
			out = append(out, policy.Effect{Kind: policy.Stop})
		}
	case policy.PeersChanged, policy.Suspended, policy.Ordered, policy.Renew, policy.Woke:
	}
	return m.due(t, out)
}

// due does all whose time has come.
func (m *Machine) due(now policy.Time, out []policy.Effect) []policy.Effect {
	if m.phase == saving && now >= m.startBy {
		out = m.deny(now, out)
	}
	if m.isServer() {
		out = m.serve(now, out)
	} else {
		out = m.ask(now, out)
	}
	if m.leaving && !m.gone && m.phase == idle && !m.isOut(now) {
		if m.held {
			out = m.gave(now, policy.CauseDropped, wire.MemberID{}, out)
		}
		m.gone = true
		out = append(out, policy.Effect{Kind: policy.Gone})
	}
	return out
}

func (m *Machine) took(now policy.Time, how policy.Cause, from wire.MemberID, out []policy.Effect) []policy.Effect {
	m.held, m.since = true, now
	return policy.AppendTook(out, how, from, &m.token)
}

func (m *Machine) gave(now policy.Time, why policy.Cause, to wire.MemberID, out []policy.Effect) []policy.Effect {
	m.held, m.since = false, now
	return policy.AppendGave(out, why, to, &m.token)
}

// begin waits until it is saved that this member runs under the token that is here.
func (m *Machine) begin(now, until policy.Time, out []policy.Effect) []policy.Effect {
	m.phase, m.until, m.startBy = saving, until, min(now.Add(m.cfg.SaveWithin()), until)
	m.before = m.state
	m.state.Seq, m.state.HasRun, m.state.LastRun = m.token.Seq, true, now
	return m.save(out)
}

func (m *Machine) save(out []policy.Effect) []policy.Effect {
	binary.BigEndian.PutUint64(m.state.Memo[:], m.served)
	return policy.AppendSave(out, m.state)
}

// onSaved starts what has waited for it.
func (m *Machine) onSaved(now policy.Instant, failed bool, out []policy.Effect) []policy.Effect {
	switch {
	case m.making:
		return m.onMade(now, failed, out)
	case m.phase != saving:
		return out
	case failed || now.Time >= m.startBy:
		return m.deny(now.Time, out)
	}
	m.phase, m.wanted = running, false
	out = policy.AppendRun(out, &m.token, m.startBy)
	out[len(out)-1].Until = m.until
	return out
}

// deny ends a grant without a run.
func (m *Machine) deny(now policy.Time, out []policy.Effect) []policy.Effect {
	out = policy.AppendTell(out, NoteDenied, wire.MemberID{}, &m.token)
	return m.retract(now, out)
}

// retract gives back what no run will use: what was saved counts for nothing but its number.
func (m *Machine) retract(now policy.Time, out []policy.Effect) []policy.Effect {
	m.phase = idle
	m.state.HasRun, m.state.LastRun = m.before.HasRun, m.before.LastRun
	return m.giveBack(now, m.save(out))
}

// withdraw ends a demand that has not led to a run.
func (m *Machine) withdraw(now policy.Time, out []policy.Effect) []policy.Effect {
	switch m.phase {
	case asking:
		m.phase = idle
	case saving:
		return m.retract(now, out)
	case idle, running:
	}
	return out
}

// lose gives up a lock whose lease is over. The guard of the run has ended it by now.
func (m *Machine) lose(now policy.Time, out []policy.Effect) []policy.Effect {
	out = m.gave(now, policy.CauseDropped, wire.MemberID{}, out)
	if m.phase == saving {
		out = m.deny(now, out)
	}
	return out
}

// NextWake is the nearest deadline.
func (m *Machine) NextWake() (policy.Time, bool) {
	at := policy.Never
	if m.isServer() && !m.held && !m.making {
		at = m.lent.end
	}
	if m.asks() {
		at = min(at, m.again)
	}
	if m.held && !m.isServer() {
		at = min(at, m.until)
	}
	if m.phase == saving {
		at = min(at, m.startBy)
	}
	return at, at < policy.Never && !m.gone
}

// Expects reports whether msg is a Request or Release for the server, or the answer to the last Request of this member.
func (m *Machine) Expects(msg *wire.Message) bool {
	if m.isServer() {
		return msg.Kind == KindRequest || msg.Kind == KindRelease
	}
	return msg.Kind == KindGrant && msg.From == m.cfg.Server && m.asks() && msg.Exchange == m.exchange && msg.Nonce == m.nonce
}

// Status describes this member.
func (m *Machine) Status(now policy.Time) policy.Status {
	s := policy.Status{
		Phase: m.phase.String(), Why: "nobody waits here", Holding: m.held, Token: m.token, Since: m.since,
		HasRun: m.state.HasRun, LastRun: m.state.LastRun, NextRun: policy.Never,
	}
	switch {
	case m.held:
		s.Holder = m.seat.Self
	case m.isServer():
		s.Holder = m.lent.to
	}
	if m.wanted {
		s.Why, s.NextRun = "the lock is elsewhere", now
	}
	if m.phase == running {
		s.Why = "running"
	}
	return s
}

// Facts are the server, and how many runs have ended here.
func (m *Machine) Facts(_ policy.Time, out []policy.Fact) []policy.Fact {
	return append(out, policy.Fact{Key: policy.KeyServer, Member: m.cfg.Server}, policy.Fact{Key: policy.KeyServed, Count: int(m.served)})
}

// String returns one line.
func (m *Machine) String() string {
	return fmt.Sprintf("%v, held %v, wanted %v", m.phase, m.held, m.wanted)
}
