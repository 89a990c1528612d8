package call

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// Machine is one member's part in a gate on call. It implements [policy.Machine] and is a plain value, apart from its
// queue.
type Machine struct {
	cfg Config

	custody  custody
	schedule soft.Schedule
	numbers  soft.Numbers
	view     view
	caller   caller
	queue    queue
	known    known
	// report is what the holder was told, former what the one before was.
	report, former report
	arrival        arrival
	search         search
	birth          birth
	// trip is how long the homes took to answer the last announcement; before the first one, how long the sender of the
	// token took to answer. The heartbeats of a holder have it, so that its guardians are as patient with it as it is
	// far away: they may never have asked it anything.
	trip  time.Duration
	stand stand

	guardian guardian.Machine
	handoff  handoff.Machine

	// steppedAt is when Step was called last.
	steppedAt policy.Time
}

// New returns a machine that waits for Started.
func New(cfg Config) *Machine {
	m := &Machine{cfg: cfg}
	m.schedule.SetCalendar(m.cfg.terms())
	m.handoff = handoff.New(handoff.Config{
		Gate: cfg.Gate, Self: cfg.Self, Timeout: m.cfg.patience(), Entropy: cfg.Entropy,
		Marks: cfg.Marks,
	})
	m.guardian = guardian.New(guardian.Config{
		Gate: cfg.Gate, Self: cfg.Self, Patience: m.cfg.patience(), Keep: cfg.Keep, Soak: cfg.Soak,
		Entropy: cfg.Entropy, Marks: cfg.Marks,
	})
	m.guardian.BeQuiet()
	return m
}

// Step applies one event.
func (m *Machine) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if at, _ := m.NextWake(); ev.Kind == policy.Woke && now.Time < at {
		m.cfg.Marks.Hit(markEarlyWake)
		return out
	}
	m.see(now)
	m.guardian.See(now.Time, m.custody.held())
	if t, _ := m.guardian.Last(); m.guards() {
		m.guardian.Measured(m.cfg.tripOf(&t.Load))
	}
	if m.guards() || m.custody.holds() || m.custody.in(running) || m.handoff.Receiving() {
		m.birth.touch(now.Time) // What ends in this step was here until now.
	}
	switch ev.Kind {
	case policy.Started:
		ran := soft.MemoOf(&ev.State.Memo)
		m.schedule.Restore(m.cfg.terms(), now.Time, &ev.State, &ran)
		m.numbers.Restore(ev.State.Seq, ran.Token.Birth)
		out = m.restoreKept(now, &ev.State.Kept, out)
	case policy.PeersChanged:
		out = m.onPeersChanged(now, ev, out)
	case policy.Received:
		if why := m.stray(now, &ev.Msg); why != 0 {
			m.cfg.Marks.Hit(markStray)
			return policy.AppendTell(out, why, ev.Msg.From, &ev.Msg.Token)
		}
		out = m.onReceived(now, &ev.Msg, out)
	case policy.Finished:
		out = m.onFinished(now, ev, out)
	case policy.Soaks:
		out = m.onSoaks(now, ev.Soak, out)
	case policy.Saved:
		out = m.onSaved(now, ev.Failed, out)
	case policy.Wanted:
		m.schedule.Want(m.cfg.terms(), m.custody.in(running) && !m.schedule.IsCallers())
	case policy.Unwanted:
		m.schedule.Unwant()
		if m.schedule.IsCallers() {
			out = m.retract(out) // The run was for callers who are gone.
			m.cfg.Marks.Hit(markCallersGone)
		}
	case policy.Suspended:
		out = m.onSuspended(now, out)
	case policy.Directed:
		m.schedule.Pause(ev.Paused)
	case policy.Renew:
		out = m.onRenew(now, out)
	case policy.Leave:
		out = m.onLeave(now, out)
	case policy.Woke:
		out = m.onWoke(now, out)
	}
	out = m.settle(now, ev.Kind, out)
	if m.guardian.MustSave() {
		out = m.save(out)
	}
	return m.leaveIfDone(now, out)
}

// see reads the clocks. It must be called first in a step.
func (m *Machine) see(now policy.Instant) {
	m.steppedAt = now.Time
	m.schedule.See(now)
}

// settle brings what this member does into line with what it wants and knows. It does nothing if neither has changed
// since it was called last.
func (m *Machine) settle(now policy.Instant, on policy.EventKind, out []policy.Effect) []policy.Effect {
	out = m.reviewWait(now, on, out)
	switch {
	case m.custody.in(resting), m.custody.in(asking):
		out = m.next(now, false, out)
	case m.custody.in(saving) && m.custody.grants && !m.caller.waits():
		m.cfg.Marks.Hit(markRetractedUnwanted)
		out = m.next(now, false, m.retract(out))
	}
	if m.queue.len() > 0 && !m.queues() && !m.custody.leaving {
		m.cfg.Marks.Hit(markQueueSentAway)
		out = m.sendWaiters(now.Time, m.view.firstHome(), out) // From now on it does not hear who is served.
	}
	out = m.tellHolder(now, out)
	out = m.tellNextHome(now.Time, out)
	waits := m.queue.len() > 0 || m.caller.waits() // A guardian that waits may be queued at another home only.
	if m.custody.holds() {
		waits = m.queue.hasOther(m.cfg.Self) && !m.unheard()
	}
	m.guardian.Await(now.Time, waits)
	return out
}

// NextWake returns when Step must next be called if nothing else happens.
func (m *Machine) NextWake() (policy.Time, bool) {
	at, _ := m.handoff.NextWake()
	if guards, ok := m.guardian.NextWake(m.custody.held()); ok {
		at = min(at, guards)
	}
	at = min(at, m.queue.sweepsAt(), m.fallsDueAt(), m.custody.wakesAt())
	switch {
	case m.custody.in(gone):
		return policy.Never, false
	case m.custody.holds():
		if unused := m.unusedUntil(); m.custody.in(resting) && unused > m.steppedAt {
			at = min(at, unused)
		}
		if at = min(at, m.arrival.wakesAt()); m.custody.in(asking) && m.view.Alone() {
			at = min(at, m.birth.aloneAt)
		}
	default:
		at = min(at, m.caller.wakesAt(), m.report.wakesAt(), m.search.wakesAt())
	}
	if m.custody.leaving && m.custody.in(absent) {
		if quiet, ok := m.handoff.QuietAt(); ok {
			at = min(at, quiet)
		}
	}
	return at, at < policy.Never
}

func (m *Machine) onWoke(now policy.Instant, out []policy.Effect) []policy.Effect {
	if now.Time >= m.queue.sweepsAt() {
		m.queue.sweep(now.Time, m.pause())
	}
	var verdict guardian.Outcome
	out = m.guardian.Wake(now.Time, m.custody.held(), &verdict, out)
	out = m.guardian.AskOthers(m.view.IDs, m.custody.held(), out)
	out = m.onVerdict(now, &verdict, out)
	var end handoff.Outcome
	out = m.handoff.Wake(now.Time, &end, out)
	out = m.onOutcome(now, &end, out)
	switch {
	case m.custody.asksKeep:
		out = m.goOnKept(now, out)
	case m.custody.in(saving) && now.Time >= m.custody.until:
		m.cfg.Marks.Hit(markSaveLate)
		out = m.onSaved(now, true, out)
	}
	if m.custody.holds() {
		return m.wakeArrival(now, out)
	}
	out = m.wakeReport(now, out)
	out = m.wakeSearch(now, out)
	return m.wakeCaller(now, out)
}

// onPeersChanged handles a new view of the gate.
//
// R14 Changes. "When the view changes the holder chooses homes again, and announces itself if they differ. A home that
// leaves, or is none any more, sends its waiters to the first home." If its first home changes, "a waiter calls again,
// spread over members × skip/64" (R3); over a skip at most, if nobody has answered its last call.
func (m *Machine) onPeersChanged(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	first := m.view.firstHome()
	m.view.see(&m.cfg, ev.Peers)
	m.birth.see(&m.cfg, now.Time, &m.view, ev.Company)
	m.handoff.Keep(m.view.HasHint)
	m.queue.keep(&m.view)
	if m.view.firstHome() != first {
		m.cfg.Marks.Hit(markFirstHomeChanged)
		among := m.view.Count()
		if m.caller.step > toFirst {
			among = min(among, unspread)
		}
		m.caller.callAgain(now.Time, m.cfg.spread(among))
	}
	m.search.hurry(&m.cfg, now.Time)
	if !m.guards() && !m.view.Has(m.known.holder) {
		m.cfg.Marks.Hit(markHolderLeftView)
		m.known.lose()
	}
	if m.custody.holds() && !m.custody.resumed {
		return m.chooseHomes(now, out)
	}
	return out
}

// stray returns the note for a message that changes nothing; zero if it may change something.
func (m *Machine) stray(now policy.Instant, msg *wire.Message) policy.Note {
	switch {
	case !m.numbers.Believes(now, &msg.Token):
		return soft.NoteSeqRefused
	case !m.Expects(msg):
		return guardian.NoteStrayWord
	}
	return 0
}

// Expects reports whether a message could change anything now.
func (m *Machine) Expects(msg *wire.Message) bool {
	if m.custody.in(gone) || msg.Token.Slot != m.cfg.Slot {
		return false
	}
	switch msg.Kind {
	case KindCall:
		return msg.From != m.cfg.Self && !m.queue.isDone(msg.From, waitOf(msg.Exchange))
	case KindNext, KindSeek:
		return msg.From != m.cfg.Self
	case KindQueued:
		return m.caller.is(msg.Exchange)
	case KindWhere:
		return m.caller.is(msg.Exchange) || m.report.is(msg.Exchange) || m.search.awaits(msg)
	case KindNone:
		return m.search.awaits(msg)
	}
	if handoff.Owns(msg.Kind) {
		return m.handoff.Expects(msg)
	}
	return m.expectsGuarding(msg)
}

func (m *Machine) onReceived(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	if m.isLater(msg) {
		out = m.dropStale(now, msg, out)
	}
	m.view.avoid.Forgive(msg.From)
	switch msg.Kind {
	case KindCall:
		return m.onCall(now, msg, out)
	case KindQueued:
		return m.onQueued(now, msg, out)
	case KindNext:
		return m.onNext(now, msg, out)
	case KindWhere:
		return m.onWhere(now, msg, out)
	case KindSeek:
		return m.onSeek(now, msg, out)
	case KindNone:
		return m.onNone(now, msg, out)
	}
	if !handoff.Owns(msg.Kind) {
		return m.onGuarding(now, msg, out)
	}
	if msg.Kind == handoff.KindToken {
		if latest, stale := m.refuses(msg); stale {
			m.cfg.Marks.Hit(markOfferStale)
			return m.refuse(msg, latest, out)
		}
		out = m.numbers.Witness(now, msg, out)
		m.birth.touch(now.Time)
		m.known.witness(now.Time, &msg.Token, msg.From)
	}
	var end handoff.Outcome
	out = m.handoff.Receive(now.Time, msg, &end, out)
	if msg.Kind == handoff.KindToken && m.handoff.Receiving() {
		m.caller.callAgain(now.Time, m.cfg.patience()) // The sender may have given up, and told the homes so.
	}
	return m.onOutcome(now, &end, out)
}

func (m *Machine) onOutcome(now policy.Instant, end *handoff.Outcome, out []policy.Effect) []policy.Effect {
	switch end.Ending {
	case handoff.Pending:
	case handoff.Arrived:
		return m.onArrived(now, end, out)
	case handoff.Passed:
		return m.onPassed(now, end, out)
	case handoff.Failed:
		return m.onNoAck(now, end.Peer, out)
	}
	return out
}

// spread is a random share of the time over which calls of many members are spread.
//
// R16 Hook. "What makes many due at once (window, resume, start) is spread over members × skip/64."
func (m *Machine) spread() time.Duration {
	return m.cfg.spread(m.view.Count())
}

// String returns one line for traces.
func (m *Machine) String() string {
	s := fmt.Sprintf("%s %s", m.cfg.Self.Short(), m.custody.state)
	if m.custody.holds() {
		s += fmt.Sprintf(" token=%s seq=%d", m.custody.token.ID, m.custody.token.Seq)
	}
	if m.queue.len() > 0 {
		s += fmt.Sprintf(" waiters=%d", m.queue.len())
	}
	return s
}
