package call

import (
	"math/bits"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// caller is this member's own wait for the token.
//
// R2 Call. "A member that becomes wanted, and has no token, sends Call with the age of its wait to its first home;
// after P/8 to all homes; after 3P/8 also to the last holder that it knows; after P to all members (of up to 64, else 8
// at random, and the homes again), then after P, 2P, 4P, 8P. Once each in a step."
//
// A home may lie: queue a caller, and tell nobody. So a caller that was queued and still waits after eight skips calls
// another home, too, and so each time that it calls again, and goes where answers send it; and no home can send it away
// for longer than an honest one with as many waiters as there are members.
type caller struct {
	// id is the identity of the wait; zero if this member does not wait. called is true once others have heard of it.
	id     wire.Exchange
	called bool
	// step counts the calls since the last answer. followed counts the places that answers of this step have named.
	// homes is how many homes may have heard of this wait.
	step, followed, homes uint8
	// queued is true if a home has answered since the last call, again counts the calls after such an answer.
	queued bool
	again  uint8
	since  policy.Time
	// at is when this member calls next; began is when the first call of these steps was.
	at, began policy.Time
	// word is the token as a Queued has named it, and wordAt when that was.
	word   wire.Ref
	wordAt policy.Time
	turn   turn
	// other is the member that has queued this wait without being a home: a holder. Until one has answered, it is the
	// first that was called.
	other wire.MemberID
}

// turn is what the sender of the last Queued has said, for operators only. The last Queued came at wordAt, unless home
// is zero.
type turn struct {
	home   wire.MemberID
	before int
	held   time.Duration
}

// The steps of a call.
const (
	toFirst = iota
	toHomes
	toHolder
	toAll
	doublings = 3
)

const (
	// leastPauses is the shortest pause of a caller that is queued, in skips.
	leastPauses = 8
	// mostCalled is the largest fleet of which all members are called; in a larger one drawnCalled are.
	mostCalled  = guardian.MostAsked
	drawnCalled = 8
	// unspread is how many members a skip is for, where calls are spread.
	unspread = 64
	// mostFollowed is how many members that are named in answers are called in one step.
	mostFollowed = 2
)

func (c *caller) waits() bool { return c.id != 0 }

// is reports whether an answer is about the present wait.
func (c *caller) is(id wire.Exchange) bool { return c.id != 0 && c.id == id }

// wakesAt is when this member calls next.
func (c *caller) wakesAt() policy.Time {
	if c.id == 0 {
		return policy.Never
	}
	return c.at
}

// callsAt is when a wait that begins calls first.
func (c *caller) callsAt() policy.Time {
	if c.called {
		return c.began
	}
	return c.at
}

// isLate reports whether the sender of the last Queued knows of others that wait before this member.
func (c *caller) isLate() bool { return !c.turn.home.IsZero() && c.turn.before > 0 }

// begin begins a wait.
func (c *caller) begin(cfg *Config, now policy.Time, after time.Duration) {
	*c = caller{id: wire.Exchange(policy.Draw(cfg.Entropy)), since: now, at: now.Add(after)}
	for waitOf(c.id) == 0 {
		c.id = wire.Exchange(policy.Draw(cfg.Entropy))
	}
}

// end ends the wait.
func (c *caller) end() { *c = caller{} }

// renew gives the wait a new identity: "a wait that its visit did not serve gets a new identity".
func (c *caller) renew(cfg *Config, now policy.Time) {
	if c.id != 0 {
		since := c.since
		c.begin(cfg, now, 0)
		c.since = since
	}
}

// callAgain begins the steps again after that time at the latest: the first home has changed, or the token is offered
// to this member and may not arrive.
func (c *caller) callAgain(now policy.Time, after time.Duration) {
	if c.id != 0 && c.called {
		c.step, c.at = toFirst, min(c.at, now.Add(after))
		c.homes = mostHomes
	}
}

// reviewWait begins or ends the wait of this member, as its schedule says, after an event of that kind. A local caller
// that comes now calls at once; any other call is spread (R16).
func (m *Machine) reviewWait(now policy.Instant, on policy.EventKind, out []policy.Effect) []policy.Effect {
	wants := m.wants(now.Time) && !m.stand.idle
	switch {
	case m.custody.in(running) || m.custody.in(gone):
	case wants && !m.caller.waits():
		after := time.Duration(0)
		if on != policy.Wanted && !m.custody.holds() && !m.stand.follows {
			after = m.spread()
		}
		m.caller.begin(&m.cfg, now.Time, after)
		if m.stand.follows {
			m.caller.since = m.stand.since
		}
		if !m.custody.holds() && after == 0 {
			out = m.wakeCaller(now, out)
		}
	case !wants && m.caller.waits():
		m.cfg.Marks.Hit(markWaitOver)
		if m.caller.called {
			out = m.withdraw(out)
		}
		out = m.callOff(now, m.cfg.Self, waitOf(m.caller.id), out)
		m.queue.remove(m.cfg.Self)
		m.caller.end()
	}
	return out
}

// wants reports whether this member would run now if it had the token.
func (m *Machine) wants(now policy.Time) bool {
	return !m.custody.leaving && now >= m.custody.deniedUntil && now >= m.dueAt(now)
}

// fallsDueAt is when this member becomes due: not before the last step, because a window that was open then may be
// closed now.
func (m *Machine) fallsDueAt() policy.Time {
	if m.custody.in(running) || m.custody.in(saving) || m.custody.leaving || m.caller.waits() || m.stand.idle ||
		m.schedule.RunsElsewhere() {
		return policy.Never
	}
	from := max(m.steppedAt, m.custody.deniedUntil)
	return max(m.schedule.Due(m.cfg.terms(), from, from), from)
}

func (m *Machine) dueAt(now policy.Time) policy.Time {
	return m.schedule.Due(m.cfg.terms(), now, now)
}

// spread is a random time, over which the calls of many members are spread.
func (c *Config) spread(members int) time.Duration {
	hi, _ := bits.Mul64(c.Entropy.Uint64(), uint64(policy.Times(members, c.Skip/unspread)))
	return time.Duration(hi)
}

// wakeCaller makes the call that is due.
func (m *Machine) wakeCaller(now policy.Instant, out []policy.Effect) []policy.Effect {
	c := &m.caller
	if c.id == 0 || now.Time < c.at || m.handoff.Receiving() && now.Time < c.at.Add(m.handoff.Patience()) {
		if c.id != 0 && now.Time >= c.at {
			m.cfg.Marks.Hit(markCallPostponed)
			c.at = now.Time.Add(m.cfg.patience() / 8) // The token is on its way to this member.
		}
		return out
	}
	p := m.cfg.patience()
	if c.step == toFirst {
		c.began = now.Time
	}
	c.called, c.followed = true, 0
	step := c.step
	switch c.step++; step {
	case toFirst:
		c.homes = max(c.homes, 2) // The first one may tell the next one.
		c.at = c.began.Add(p / 8)
		out = m.callOne(now, m.view.firstHome(), out)
		if c.queued {
			c.queued = false
			out = m.callAnother(now, out)
		}
		return out
	case toHomes, toHolder:
		m.cfg.Marks.Hit(markCalledHomes)
		c.homes = mostHomes
		c.at = c.began.Add(3 * p / 8)
		if step == toHolder {
			c.at = c.began.Add(p)
		}
		out = m.callHomes(now, out)
		if holder := m.known.holder; step == toHolder && !holder.IsZero() && !m.view.isHome(&m.cfg, holder) {
			out = m.callOne(now, holder, out)
		}
		return out
	}
	m.cfg.Marks.Hit(markCalledAll)
	waits := min(step-toAll, doublings)
	c.step, c.at = toAll+min(waits+1, doublings), now.Time.Add(p<<waits)
	return m.callAll(now, out)
}

// callHomes calls all homes.
func (m *Machine) callHomes(now policy.Instant, out []policy.Effect) []policy.Effect {
	for rank := range m.cfg.homes() {
		if id, ok := m.view.home(rank); ok {
			out = m.callOne(now, id, out)
		}
	}
	return out
}

// callAnother calls another home than the first one, in turn. Where there is only one, it calls eight members at
// random: the holder may be among them, or they say where it is.
func (m *Machine) callAnother(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.caller.homes = mostHomes
	m.cfg.Marks.Hit(markCalledAnother)
	m.caller.again++
	others := m.cfg.homes() - 1
	if others == 0 {
		return m.callDrawn(now, out)
	}
	id, _ := m.view.home(1 + int(m.caller.again-1)%others)
	return m.callOne(now, id, out)
}

// callAll calls all members of a small fleet, and some of a large one. There the homes are called, too: when they were
// called first, they may not have known yet that they are homes.
func (m *Machine) callAll(now policy.Instant, out []policy.Effect) []policy.Effect {
	if len(m.view.IDs) > mostCalled {
		return m.callDrawn(now, m.callHomes(now, out))
	}
	for _, id := range m.view.IDs {
		out = m.callOne(now, id, out)
	}
	return out
}

// callDrawn calls some members at random: all if there are no more.
func (m *Machine) callDrawn(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.cfg.Marks.Hit(markCalledDrawn)
	n := len(m.view.IDs)
	start, _ := bits.Mul64(m.cfg.Entropy.Uint64(), uint64(n))
	for i := range min(n, drawnCalled) {
		out = m.callOne(now, m.view.IDs[(int(start)+i*max(n/drawnCalled, 1))%n], out)
	}
	return out
}

// callOne calls one member. A home that waits itself is in its own queue.
func (m *Machine) callOne(now policy.Instant, to wire.MemberID, out []policy.Effect) []policy.Effect {
	c := &m.caller
	switch to {
	case wire.MemberID{}:
		return out
	case m.cfg.Self:
		if m.view.isHome(&m.cfg, to) {
			m.enqueue(now.Time, waiter{id: to, wait: waitOf(c.id), since: c.since, called: now.Time})
			c.step, c.at = toHomes, now.Time.Add(m.pause())
		}
		return out
	}
	if c.other.IsZero() && !m.view.isHome(&m.cfg, to) {
		c.other = to
	}
	return m.send(KindCall, to, c.id, wire.Nonce(max(now.Time.Sub(c.since), 1)), nil, out)
}

// withdraw tells the homes that have heard of this wait, and the holder if it was called, that this member no longer
// waits.
func (m *Machine) withdraw(out []policy.Effect) []policy.Effect {
	other := m.caller.other
	for rank := range min(max(m.cfg.homes(), 2), int(m.caller.homes)) {
		if id, ok := m.view.home(rank); ok && id != m.cfg.Self {
			if id == other {
				other = wire.MemberID{}
			}
			out = m.send(KindCall, id, m.caller.id, 0, nil, out)
		}
	}
	if m.view.Has(other) && m.cfg.slots() == 1 { // Else the wait may go on under another token.
		out = m.send(KindCall, other, m.caller.id, 0, nil, out)
	}
	return out
}

// onQueued handles the answer of a home, or of the holder: "a pause […], after which the member calls again".
func (m *Machine) onQueued(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	c := &m.caller
	if !m.view.isHome(&m.cfg, msg.From) {
		m.cfg.Marks.Hit(markQueuedByOther)
		c.other = msg.From
	}
	if holder, _ := placesOf(&msg.Load); holder != m.cfg.Self {
		m.hear(now.Time, msg, holder)
		c.word, c.wordAt = msg.Token, now.Time
		if first := m.view.firstHome(); msg.From == first || c.turn.home != first { // The first one knows most callers.
			c.turn.home = msg.From
			c.turn.before, c.turn.held = turnOf(&msg.Load)
		}
	} // Else the token is on its way, and comes with a lower number.
	most := max(leastPauses, m.view.Count())
	if c.again == 0 {
		most = leastPauses
	}
	pause := min(time.Duration(msg.Nonce), policy.Times(most, m.cfg.Skip))
	c.step, c.at, c.queued = toFirst, now.Time.Add(max(pause, m.cfg.patience()/2)), true
	return out
}

// send appends a message, and about is the token that it is about; nil if it is about none.
func (m *Machine) send(
	kind wire.Kind, to wire.MemberID, id wire.Exchange, nonce wire.Nonce, about *wire.Ref, out []policy.Effect,
) []policy.Effect {
	out, msg := policy.AppendMessage(out)
	msg.Gate, msg.Kind, msg.From, msg.To, msg.Exchange, msg.Nonce = m.cfg.Gate, kind, m.cfg.Self, to, id, nonce
	if about != nil {
		msg.Token = *about
	}
	msg.Token.Slot = m.cfg.Slot
	return out
}
