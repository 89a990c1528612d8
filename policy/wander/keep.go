package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// A kept grant outlives its agent and its host: see package guardian. It is saved here and by the guardians before the
// operation starts. In a gate with such grants, a token is missed only after Keep and Δmax: while a host is away, there
// is a long silence.

// slowSave is how much longer than usual the save of a guardian may take, in timeouts.
const slowSave = 2

var _ policy.Keeper = (*Machine)(nil)

// askToKeep asks the guardians to keep the grant of a run that is due.
func (m *Machine) askToKeep(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.custody.keep(now.Time.Add(m.cfg.SaveWithin()).Add(2 * m.handoff.RoundTrip()))
	return m.goOnKept(now, m.guardian.Keep(now.Time, m.custody.last(), out))
}

// goOnKept saves the start of the run when all guardians have answered, within the time for a save. After that, one
// answer is enough.
func (m *Machine) goOnKept(now policy.Instant, out []policy.Effect) []policy.Effect {
	c := &m.custody
	switch over := now.Time >= c.until(); {
	case !c.askingToKeep():
	case m.guardian.AllKeep(c.last()), (over || c.isLate()) && m.guardian.SomeKeep(c.last()):
		switch due := now.Time >= m.dueAt(now.Time) && !m.schedule.CalledOff(); {
		case due:
			return m.saveGrant(now, out)
		case over:
			m.cfg.Marks.Hit(markKeptClosed)
			return m.desist(now, out) // A window has closed meanwhile.
		}
		c.hurry(now.Time)
	case over && c.isLate():
		m.cfg.Marks.Hit(markNobodyKeeps)
		return m.deny(now, out)
	case over:
		m.cfg.Marks.Hit(markKeepLate)
		c.keepLate(now.Time.Add(m.cfg.timeouts(slowSave)))
	}
	return out
}

// goOnBack passes on a token that was kept. If no guardian has answered while they keep it, others are asked.
func (m *Machine) goOnBack(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case now.Time < m.custody.until():
		return out
	case m.guardian.SomeKeep(m.custody.last()):
		return m.pass(now, out)
	}
	m.cfg.Marks.Hit(markBackUnheard)
	return m.doubt(now, out)
}

// onKept handles the answer of a guardian.
func (m *Machine) onKept(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.custody.handsBack() && m.guardian.SomeKeep(m.custody.last()) {
		m.cfg.Marks.Hit(markBackHeard)
		m.custody.hurry(now.Time)
	}
	return m.goOnKept(now, out)
}

// AskKeepers implements [policy.Keeper].
func (m *Machine) AskKeepers() bool {
	return m.custody.in(running) && m.custody.keeps() && m.guardian.AskAgain()
}

// KeepersAnswered implements [policy.Keeper]: one guardian is enough, as for a start.
func (m *Machine) KeepersAnswered() bool {
	return m.custody.keeps() && m.guardian.Confirmed()
}

// kept is the kept grant of this member, or the one that it guards; zero if there is none.
func (m *Machine) kept() policy.Kept {
	c := &m.custody
	if !c.keeps() {
		return m.guardian.Kept()
	}
	return policy.Kept{
		Holder: m.cfg.Self, Token: c.last().Ref, Load: c.last().Load, For: m.cfg.Keep,
		Demanded: m.schedule.IsCallers(),
	}
}

// restoreKept continues with a kept grant of an earlier life: this member's own as if its operation still ran, another
// one as its guardian.
func (m *Machine) restoreKept(now policy.Instant, k *policy.Kept, out []policy.Effect) []policy.Effect {
	switch {
	case !k.Is() || m.cfg.Keep == 0: // The gate keeps no grants any more.
		return out
	case k.Holder != m.cfg.Self:
		m.cfg.Marks.Hit(markRestoresGuard)
		m.guardian.Restore(now.Time, k)
		return m.loss.meet(out)
	}
	token := guardian.Token{Ref: k.Token, Load: k.Load}
	guardian.SetSoakLeft(&token.Load, 0) // Its host soaks for the whole time again.
	out = policy.AppendTook(out, policy.CauseKept, wire.MemberID{}, &token.Ref)
	m.cfg.Marks.Hit(markResumes)
	m.custody.resume(&m.cfg, now.Time, &token)
	m.schedule.Resume(k.Demanded)
	out = m.guardian.Keep(now.Time, m.custody.last(), out)
	return m.loss.meet(out)
}

// handBack ends a run that was resumed. The token may be another one's by now, and perhaps nobody who knows that is in
// this member's view yet. So it goes on when a guardian has answered that it knows no better. A member that belongs to
// a fleet is not alone merely because it has just started.
func (m *Machine) handBack(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.walk.Alone() && !m.loss.expectsCompany(&m.cfg) {
		return m.pass(now, out)
	}
	m.custody.handBack(now.Time.Add(m.cfg.Keep))
	return m.guardian.Hold(now.Time, m.custody.last(), out)
}
