// Package wander is the soft gate: the wandering token of Ciuffoletti's paper, section 5, as a machine.
//
// One token goes round the members of a gate, or wanders at random, as in the paper. A member that receives it, and has
// not run the protected operation for min_interval (Δmin), runs it and passes the token on. Any other member lets it
// rest for skip (Δskip) and passes it on. After a silence a member replaces a lost token; of several tokens the oldest
// survives. Normally exactly one member runs. Overlaps are rare and short, and a member never blocks because others are
// away.
//
// The machine is the switch between its components. Each component keeps its state and its rules, and knows only what
// it is given; its fields are touched in no other file. Package soft has two of them, the schedule of runs and the
// fencing numbers:
//
//	walk.go        the view, those to avoid, and the next member: random, shuffle, sweep. share.go: how several tokens
//	               share the members in a sweep
//	custody.go     the token that is held, and what this member does with it
//	measures.go    what an operation and a lap take, and so max_interval (Δmax)
//	passed.go      the oldest token that left lately: tokens that follow it are removed
//	loss.go        whether the token is lost, or there is none yet. regenerate.go: the silence that means a loss, and
//	               how regenerate-after (Δgen) adapts; inquire.go: asking others before a token is made; census.go:
//	               asking all of them; certain.go: a loss that all members confirm; create.go: the first token of a
//	               fleet, in the order of rank; a member alone
//	consent.go     asking all others before a run, if the operator wants that
//	reunion.go     members that come, perhaps with a token of their own
//
// What the machine does, by file:
//
//	wander.go      the events and states
//	arrive.go      what happens to a token that arrives: removal, meeting, running, resting
//	guardians.go   the token's guardians: its revival, a holder that was away, copies
//	pass.go        passing the token on
//	keep.go        a grant that outlives its host
//	save.go        what must be durable before a run starts, or a token goes on; the memo of the last run
//	ask.go         what follows from the answers of others before a run
//	make.go        a new token, also for an operator
//	demand.go      what happens when it changes whether a run is due: callers, readiness, pause
//	leave.go       a graceful stop; a host that was asleep
//	slots.go       several tokens: a machine for each; how many, where that is a share of the members
//
// load.go has what a token carries, and origin.go how it came to be. The orders of members are in package lap.
//
// Where figure 2 of the paper differs from its prose, the prose applies: what counts is the time since this member last
// ran the operation, and whether the token of that run precedes the present one, not a difference of birth stamps,
// which never change. The paper does not say what happens when a token meets another one at a busy member: here the
// older one survives.
//
// Its decisions, in docs/decisions: 022, 023, 024, 025, 026, 027, 028, 029, 030, 031, 032, 033, 034, 035, 036, 037,
// 047, 083, 090, 092, 102, 110.
package wander

import (
	"fmt"
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander/lap"
	"github.com/wanderd/wanderd/wire"
)

// minTimeout is the least time a handoff waits for its partner, however short skip is.
const minTimeout = 250 * time.Millisecond

// Config is a gate as one member knows it. Its settings are never changed, because members may share them.
type Config struct {
	policy.Env
	*Settings
	// Slot is the slot of this token, LastSlot the last slot of the gate; both are zero in a gate with one token.
	Slot, LastSlot uint8
	// uncounted is true while the number of tokens follows the members, and this one has not counted them yet.
	uncounted bool
	// Laps finds the next member of a sweep or shuffle; if it is nil, the machine makes its own.
	Laps *Laps
}

// Laps finds the next member of a lap: see package lap.
type Laps = lap.Laps

// Machine is one member's part in a soft gate. It implements [policy.Machine] and is a plain value.
type Machine struct {
	cfg Config

	custody  custody
	schedule soft.Schedule
	walk     walker
	measures measures
	passed   passed
	numbers  soft.Numbers
	loss     loss
	consent  consent
	reunion  reunion

	guardian guardian.Machine
	handoff  handoff.Machine
}

// New returns a machine that waits for Started.
func New(cfg Config) *Machine {
	if cfg.Laps == nil {
		cfg.Laps = new(Laps)
	}
	m := &Machine{cfg: cfg}
	m.schedule.SetCalendar(m.cfg.terms())
	m.handoff = handoff.New(handoff.Config{
		Gate: cfg.Gate, Self: cfg.Self, Timeout: m.cfg.timeout(), Entropy: cfg.Entropy, Marks: cfg.Marks,
	})
	m.guardian = guardian.New(guardian.Config{
		Gate: cfg.Gate, Self: cfg.Self, Patience: m.cfg.timeout(), Keep: cfg.Keep, Soak: cfg.Soak,
		Entropy: cfg.Entropy, Marks: cfg.Marks,
	})
	return m
}

// timeout is the shortest wait for a partner in a handoff: skip, and at least a quarter of a second.
func (c *Config) timeout() time.Duration { return Patience(c.Skip) }

// Patience is the silence after which guardians suspect a holder, and the least time for a handoff.
func Patience(skip time.Duration) time.Duration { return max(skip, minTimeout) }

// TooShort reports whether skip is too short for a network with that round trip.
func TooShort(skip, roundTrip time.Duration) bool { return roundTrip > Patience(skip)/2 }

// LeastSkip is the shortest skip for a network with that round trip: twice the round trip, so that lost messages can be
// repeated and questions are answered in time.
func LeastSkip(roundTrip time.Duration) time.Duration {
	const step = 50 * time.Millisecond
	return (2*roundTrip + step - 1) / step * step
}

// terms are what the schedule knows of this gate.
func (c *Config) terms() soft.Terms {
	return soft.Terms{
		Slot: c.Slot, OnDemand: c.OnDemand, Skip: c.Skip, MinInterval: c.MinInterval, RetryAfter: c.RetryAfter,
		Windows: &c.Windows,
	}
}

func (c *Config) timeouts(n int) time.Duration { return policy.Times(n, c.timeout()) }

// Step applies one event.
func (m *Machine) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	m.schedule.See(now)
	m.guardian.See(now.Time, m.custody.held())
	if m.guardian.Overdue(now.Time, m.custody.held()) && m.concerns(now, ev) {
		out = m.doubt(now, out)
	}
	waits := ev.Kind == policy.Received || ev.Kind == policy.Woke && now.Time < m.custody.until()
	early := waits && m.custody.askingToKeep()
	if m.custody.granting() && m.schedule.CalledOff() && m.concerns(now, ev) && !early {
		m.cfg.Marks.Hit(markCalledOff)
		out = m.desist(now, out)
		if ev.Kind == policy.Saved {
			m.cfg.Marks.Hit(markSavedCalledOff)
			// The save was for the start that is called off. If a caller is to run in its place, that run has a save of
			// its own.
			return m.leaveIfDone(now, out)
		}
	}
	switch ev.Kind {
	case policy.Started:
		out = m.onStarted(now, ev, out)
	case policy.PeersChanged:
		out = m.onPeersChanged(now, ev, out)
	case policy.Received:
		out = m.onReceived(now, ev, out)
	case policy.Finished:
		out = m.onFinished(now, ev, out)
	case policy.Soaks:
		out = m.onSoaks(now, ev.Soak, out)
	case policy.Saved:
		out = m.onSaved(now, ev.Failed, out)
	case policy.Wanted:
		out = m.onWanted(now, out)
	case policy.Unwanted:
		out = m.onUnwanted(now, out)
	case policy.Suspended:
		out = m.onSuspended(now, ev, out)
	case policy.Directed:
		out = m.onDirected(now, ev.Paused, out)
	case policy.Renew:
		out = m.onRenew(now, out)
	case policy.Leave:
		out = m.onLeave(now, out)
	case policy.Woke:
		out = m.onWoke(now, out)
	}
	if m.guardian.MustSave() {
		out = m.save(out)
	}
	return m.leaveIfDone(now, out)
}

// NextWake returns when Step must next be called if nothing else happens; Never if it need not be.
func (m *Machine) NextWake() (policy.Time, bool) {
	at, _ := m.handoff.NextWake()
	if next, ok := m.guardian.NextWake(m.custody.held()); ok {
		at = min(at, next)
	}
	switch m.custody.doing() {
	case resting, saves:
		if at = min(at, m.custody.until()); m.custody.isReadied() {
			at = math.MinInt64
		}
	case asking:
		at = min(at, m.consent.repeatsAt(&m.cfg, m.custody.until()), m.custody.until())
	case absent:
		if o := m.outlook(); !m.schedule.IsSurplus() {
			at = min(at, m.loss.makesAt(&o))
		}
		if m.custody.leaves() {
			if quiet, ok := m.handoff.QuietAt(); ok {
				at = min(at, quiet)
			}
		}
	case running, offering, doubting, gone:
	}
	return at, at < policy.Never
}

// Expects reports whether a message could change anything now.
func (m *Machine) Expects(msg *wire.Message) bool {
	if msg.Token.Slot != m.cfg.Slot {
		return msg.Kind == handoff.KindToken && m.walk.differs(&m.cfg, msg)
	}
	if !handoff.Owns(msg.Kind) {
		return m.expectsWord(msg)
	}
	return m.handoff.Expects(msg)
}

// onStarted restores the state of an earlier life.
func (m *Machine) onStarted(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	ran := soft.MemoOf(&ev.State.Memo)
	m.schedule.Restore(m.cfg.terms(), now.Time, &ev.State, &ran)
	m.numbers.Restore(ev.State.Seq, ran.Token.Birth)
	m.loss.begin(now.Time)
	return m.restoreKept(now, &ev.State.Kept, out)
}

// onPeersChanged handles a new view of the gate.
func (m *Machine) onPeersChanged(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	wasAlone, shelved := m.walk.Alone(), m.shelves(now.Time)
	before := m.walk.see(ev.Peers, m.cfg.Self)
	if m.custody.in(asking) && m.consent.change(&m.walk.peers, &before) {
		m.cfg.Marks.Hit(markAskedAreGone)
		m.custody.hurry(now.Time)
	}
	o := m.outlook()
	m.loss.recount(&o, now.Time, &before)
	m.loss.noteView(&o, now.Time, &before)
	m.reunion.note(&m.cfg, now.Time, &m.walk.peers, &before)
	m.handoff.Keep(m.walk.HasHint)
	m.guardian.Measured(m.handoff.RoundTrip())
	m.measures.count(m.walk.lapLength(&m.cfg))
	m.walk.unmix(&m.cfg, now.Time, o.maxInterval())
	m.loss.beginIf(m.walk.findPart(&m.cfg), now.Time)
	if !m.walk.Alone() || ev.Company {
		m.loss.meetCompany(&m.cfg, now.Time)
	}
	if released := wasAlone || shelved && !m.shelves(now.Time); m.custody.in(resting) && released && !m.walk.Alone() {
		m.cfg.Marks.Hit(markReleased)
		m.custody.hurry(now.Time.Add(m.cfg.Skip))
	}
	out = m.chooseGuardiansAgain(now, out)
	out = m.reunion.greet(&m.cfg, now.Time, &m.walk.peers, &before, m.custody.held(), &m.guardian, out)
	if m.walk.Alone() {
		var back guardian.Outcome
		m.guardian.TakeBack(&back)
		out = m.onVerdict(now, &back, out)
	}
	makes, out := m.loss.view(&o, now.Time, ev.TokenKnown, out)
	return m.make(now, makes, out)
}

func (m *Machine) onReceived(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	msg := &ev.Msg
	if !m.numbers.Believes(now, &msg.Token) {
		return m.onImpossible(now, msg, out)
	}
	if m.handoff.Answers(msg) || m.guardian.Answers(msg) || m.consent.isAnswer(msg, m.custody.asked(), &m.walk.peers) {
		// It proves that this member hears another one, because it answers a message of this member. Any other message
		// may be a replay, and must not let a member that hears no other one keep its token.
		m.custody.hear()
	}
	news := m.Expects(msg)
	if news {
		out = m.noteSlots(now.Time, msg, out)
	}
	switch {
	case msg.Token.Slot != m.cfg.Slot, !handoff.Owns(msg.Kind) && !news:
		m.cfg.Marks.Hit(markStray)
		return policy.AppendTell(out, guardian.NoteStrayWord, msg.From, &msg.Token)
	case !handoff.Owns(msg.Kind):
		return m.onWord(now, msg, out)
	case msg.Kind == handoff.KindToken && news:
		out = m.numbers.Witness(now, msg, out)
		// A holder that others do not hear learns only from this that its token has been revived.
		if t := &msg.Token; m.custody.holdsCopy(t.ID) && t.Seq > m.custody.last().Seq {
			m.cfg.Marks.Hit(markOfferOfHigher)
			higher := guardian.TokenOf(msg)
			m.guardian.Overtaken(now.Time, msg.From, &higher)
			out = m.onOvertaken(now, msg.From, &higher, out)
		}
	}
	var end handoff.Outcome
	out = m.handoff.Receive(now.Time, msg, &end, out)
	m.guardian.Measured(m.handoff.RoundTrip())
	return m.onOutcome(now, &end, out)
}

func (m *Machine) onWoke(now policy.Instant, out []policy.Effect) []policy.Effect {
	var verdict guardian.Outcome
	out = m.guardian.Wake(now.Time, m.custody.held(), &verdict, out)
	out = m.guardian.AskOthers(m.walk.IDs, m.custody.held(), out)
	out = m.onVerdict(now, &verdict, out)
	var end handoff.Outcome
	out = m.handoff.Wake(now.Time, &end, out)
	out = m.onOutcome(now, &end, out)
	switch m.custody.doing() {
	case resting:
		switch {
		case now.Time >= m.custody.until():
			out = m.onRested(now, out)
		case m.custody.isReadied():
			m.cfg.Marks.Hit(markReadied)
			m.custody.reconsidered()
			out = m.reconsider(now, out)
		}
	case asking:
		out = m.wakeAsking(now, out)
	case saves:
		switch {
		case m.custody.askingToKeep():
			out = m.goOnKept(now, out)
		case m.custody.handsBack():
			out = m.goOnBack(now, out)
		case now.Time >= m.custody.until():
			m.cfg.Marks.Hit(markSaveHangs)
			out = m.onSaved(now, true, out)
		}
	case absent:
		if o := m.outlook(); !m.schedule.IsSurplus() {
			makes, effects := m.loss.wake(&o, now, out)
			out = m.make(now, makes, effects)
		}
	case running, offering, doubting, gone:
	}
	return out
}

func (m *Machine) onOutcome(now policy.Instant, end *handoff.Outcome, out []policy.Effect) []policy.Effect {
	switch end.Ending {
	case handoff.Pending:
	case handoff.Arrived:
		out = m.onArrived(now, end, out)
	case handoff.Passed:
		m.walk.forgive(end.Peer)
		m.custody.passed(end.Peer)
		passed := guardian.Token{Ref: end.Token, Load: end.Load}
		m.measures.passed(now.Time, AgeOf(&passed.Load), m.walk.lapLength(&m.cfg))
		o := m.outlook()
		m.passed.note(now.Time, passed.ID, end.Peer, &m.loss, &o)
		out = m.guardian.Passed(now.Time, m.custody.last().Trail(), &passed, end.Peer, out)
		m.becomeAbsent(now)
	case handoff.Failed:
		m.walk.shun(&m.cfg, now.Time, end.Peer, m.handoff.Patience())
		m.walk.miss(&m.cfg, end.Peer, &m.custody.last().Load)
		out = m.onNoAck(now, out)
	}
	return out
}

// onFinished: "execute(A); send(token)" (figure 2). The token is passed on at once: it has been here long enough.
func (m *Machine) onFinished(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if !m.custody.in(running) {
		return out
	}
	m.schedule.End(ev.Denied)
	resumed, kept := m.custody.isResumed(), m.custody.keeps()
	m.custody.endKept(true)
	m.guardian.EndKeep()
	if m.guardian.EndSoak(now.Time, ev.SoakGoesOn, m.custody.held()) {
		out = m.guardian.Heartbeat(now.Time, m.custody.held(), out)
	}
	if ev.Denied {
		m.cfg.Marks.Hit(markRunDenied)
		return m.deny(now, m.save(out))
	}
	if took, counts := m.schedule.Took(now.Time); counts && !ev.Void && ev.Outcome != policy.NotNow {
		m.measures.ran(took)
		if m.custody.holds() {
			SetOp(&m.custody.last().Load, m.measures.estimate())
		}
	}
	note, changed := m.schedule.Conclude(m.cfg.terms(), now.Time, ev.Outcome)
	if note != 0 {
		out = policy.AppendTell(out, note, wire.MemberID{}, &m.custody.last().Ref)
	}
	if changed || kept {
		out = m.save(out)
	}
	switch {
	case !m.custody.holds():
		m.cfg.Marks.Hit(markEndedWithout)
		m.becomeAbsent(now)
		return out
	case resumed:
		return m.handBack(now, out)
	}
	if m.guardian.Doubting() {
		m.cfg.Marks.Hit(markEndedInDoubt)
		m.custody.doubt()
		return out
	}
	return m.pass(now, out)
}

// becomeAbsent begins the silence: this member holds no token and runs nothing.
func (m *Machine) becomeAbsent(now policy.Instant) {
	m.custody.release()
	m.loss.begin(now.Time)
}

// becomeRunning starts the protected operation; its grant is saved.
func (m *Machine) becomeRunning(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.custody.run()
	m.schedule.Begin(now.Time, m.custody.last().ID, m.walk.Count())
	out = policy.AppendTell(out, NoteRan, wire.MemberID{}, &m.custody.last().Ref)
	out = policy.AppendRun(out, &m.custody.last().Ref, m.custody.until())
	out[len(out)-1].Demanded = m.schedule.IsCallers()
	if m.custody.keeps() {
		return out
	}
	return m.guardian.PreSign(m.custody.last(), out)
}

func (m *Machine) becomeResting(now, until policy.Time, out []policy.Effect) []policy.Effect {
	m.custody.rest(until, until >= m.dueAt(now))
	return policy.AppendTell(out, NoteResting, wire.MemberID{}, &m.custody.last().Ref)
}

// restOnce lets the token rest for skip, even if this member is due meanwhile. Then it is passed on.
func (m *Machine) restOnce(now policy.Time, out []policy.Effect) []policy.Effect {
	m.custody.rest(now.Add(m.cfg.Skip), false)
	return policy.AppendTell(out, NoteResting, wire.MemberID{}, &m.custody.last().Ref)
}

// becomeOffering offers the token. When it has been passed, this member is the first of its guardians. A leaving member
// does not become a guardian, and does not remove the receiver from the trail, because the receiver may never get the
// token.
func (m *Machine) becomeOffering(now policy.Instant, to wire.MemberID, out []policy.Effect) []policy.Effect {
	m.custody.offer(now.Time, m.numbers.Passed(m.custody.last().Seq))
	load, trail := m.custody.last().Load, m.custody.last().Trail()
	if !m.custody.leaves() {
		trail = trail.Behind(m.cfg.Self, to, m.cfg.Backups)
	}
	guardian.SetTrail(&load, &trail)
	m.walk.tell(now.Time, &load)
	return m.handoff.Offer(now.Time, &m.custody.last().Ref, &load, to, out)
}

// String returns one line for traces.
func (m *Machine) String() string {
	s := fmt.Sprintf("%s %s", m.cfg.Self.Short(), m.custody.doing())
	if m.custody.holds() {
		s += fmt.Sprintf(" token=%s seq=%d", m.custody.last().ID, m.custody.last().Seq)
	}
	o := m.outlook()
	return s + fmt.Sprintf(" regenerate_after=%s", m.loss.regenerateAfter(&o))
}
