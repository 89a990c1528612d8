package call

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// A kept grant outlives its agent and its host: see package guardian. It is saved here and by the homes before the
// operation starts. While the host is away, its waiters stay in the queues of the homes.
//
// A holder that comes back rests with its token like any other once its run is over. It runs nothing without the word
// of a home (R8), and a home that knows of a later copy does not give one.

// slowSave is how much longer than usual the save of a home may take, in patiences.
const slowSave = 2

var _ policy.Keeper = (*Machine)(nil)

// askToKeep asks the homes to keep the grant of a run that is due.
func (m *Machine) askToKeep(now policy.Instant, out []policy.Effect) []policy.Effect {
	c := &m.custody
	m.cfg.Marks.Hit(markKeepAsked)
	c.kept, c.asksKeep, c.late = true, true, false
	c.until = now.Time.Add(m.cfg.SaveWithin()).Add(2 * m.trip)
	return m.goOnKept(now, m.guardian.Keep(now.Time, &c.token, out))
}

// goOnKept saves the start of the run when all homes have answered, within the time for a save. After that, one answer
// is enough.
func (m *Machine) goOnKept(now policy.Instant, out []policy.Effect) []policy.Effect {
	c := &m.custody
	switch over := now.Time >= c.until; {
	case !c.asksKeep:
	case m.guardian.AllKeep(&c.token), (over || c.late) && m.guardian.SomeKeep(&c.token):
		return m.saveGrant(now, out)
	case over && c.late:
		m.cfg.Marks.Hit(markKeepDenied)
		return m.deny(now, out)
	case over:
		m.cfg.Marks.Hit(markKeepLate)
		c.late, c.until = true, now.Time.Add(slowSave*m.cfg.patience())
	}
	return out
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
		Holder: m.cfg.Self, Token: c.token.Ref, Load: c.token.Load, For: m.cfg.Keep, Demanded: m.schedule.IsCallers(),
	}
}

// restoreKept continues with a kept grant of an earlier life: this member's own as if its operation still ran, another
// one as its guardian.
func (m *Machine) restoreKept(now policy.Instant, k *policy.Kept, out []policy.Effect) []policy.Effect {
	if !k.Is() || m.cfg.Keep == 0 { // The gate keeps no grants any more.
		return out
	}
	m.known.witness(now.Time, &k.Token, k.Holder)
	m.birth.met(now.Time)
	if k.Holder != m.cfg.Self {
		m.cfg.Marks.Hit(markKeepOther)
		m.guardian.Restore(now.Time, k)
		return out
	}
	m.cfg.Marks.Hit(markResumed)
	out = policy.AppendTook(out, policy.CauseKept, wire.MemberID{}, &k.Token)
	if m.cfg.WaitsAlone || m.cfg.Rejoins {
		m.birth.aloneAt = now.Time.Add(m.cfg.maxInterval()).Add(m.cfg.Keep)
	}
	c := &m.custody
	c.state, c.holding, c.kept, c.resumed = running, true, true, true
	c.token = guardian.Token{Ref: k.Token, Load: k.Load}
	guardian.SetSoakLeft(&c.token.Load, 0) // Its host soaks for the whole time again.
	m.schedule.Resume(k.Demanded)
	return m.guardian.Keep(now.Time, &c.token, out)
}

// endKept ends the kept grant of a run that is over. A holder that was away chooses its homes again.
func (m *Machine) endKept(now policy.Instant, out []policy.Effect) []policy.Effect {
	resumed := m.custody.resumed && m.custody.holds()
	if out = m.loseKept(out); resumed {
		m.cfg.Marks.Hit(markResumedEnds)
		out = m.announce(now, m.setHomes(m.view.trail(&m.cfg, now.Time), out))
	}
	return out
}

// loseKept ends the kept grant of a token that is no longer held, or whose run is over.
func (m *Machine) loseKept(out []policy.Effect) []policy.Effect {
	if c := &m.custody; c.kept {
		c.kept, c.resumed, c.asksKeep = false, false, false
		m.cfg.Marks.Hit(markKeptLost)
		m.guardian.EndKeep()
		out = m.save(out)
	}
	if !m.custody.holds() {
		m.guardian.DropKeep()
	}
	return out
}
