package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// pass offers the token to another member, or keeps it if there is none, or if this member must not use it.
func (m *Machine) pass(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case m.schedule.IsSurplus():
		return m.retire(now, out)
	case m.shelves(now.Time) && !m.custody.leaves():
		return m.becomeResting(now.Time, m.unusedUntil(now.Time), out)
	case m.numbers.MustSave(m.custody.last().Seq) && !m.walk.Alone():
		m.cfg.Marks.Hit(markSavesNumber)
		m.custody.save(&m.cfg, now.Time, false)
		return out
	case !m.walk.Alone():
		if o := m.outlook(); m.cfg.Walk != Random {
			m.walk.unmix(&m.cfg, now.Time, o.maxInterval())
		}
		return m.becomeOffering(now, m.walk.next(&m.cfg, now.Time, &m.custody.last().Load), out)
	case m.custody.leaves():
		m.cfg.Marks.Hit(markDropped)
		out = policy.AppendTell(out, NoteDropped, wire.MemberID{}, &m.custody.last().Ref)
		m.guardian.EndDoubt()
		out = m.giveUp(policy.CauseDropped, out)
		m.becomeAbsent(now)
		return out
	}
	return m.serve(now, out)
}

// onNoAck continues with a token whose offer failed. If this member has become due meanwhile, it runs, whether or not
// its offers succeed. If it will be due before the next offer can fail, it waits: the offer is as likely to succeed
// afterwards. A member that hears no other one may still be heard: its heartbeats would keep its guardians calm, and no
// other member would ever get the token. So it asks its guardians.
func (m *Machine) onNoAck(now policy.Instant, out []policy.Effect) []policy.Effect {
	due := m.dueAt(now.Time)
	soon := !m.custody.leaves() && !m.schedule.RunsElsewhere() && due.Sub(now.Time) <= m.handoff.Patience()
	unheard := m.custody.unheard() && !m.walk.Alone()
	// A member that is due again and again must not keep its token: it has already run under this number.
	ran := m.numbers.WasGranted(m.custody.last().Seq)
	switch {
	case unheard && (ran || !soon):
		m.cfg.Marks.Hit(markProbes)
		m.custody.doubt()
		return m.guardian.Probe(now.Time, m.custody.last(), out)
	case soon && now.Time >= due:
		m.cfg.Marks.Hit(markDueUnheard)
		return m.serve(now, out)
	case soon:
		return m.becomeResting(now.Time, due, out)
	}
	return m.pass(now, out)
}

// yield gives up a token because no other member was heard while it was offered and its guardians were asked. This
// member gives it up before it tells the guardians, so that they never take a token that is held. Silences of this
// member alone were no false alarms, so Δgen is Δmax again.
func (m *Machine) yield(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.cfg.Marks.Hit(markYields)
	out = policy.AppendTell(out, NoteYielded, wire.MemberID{}, &m.custody.last().Ref)
	m.handoff.Withdraw()
	m.loss.trust()
	out = m.giveUp(policy.CauseYielded, out)
	m.becomeAbsent(now)
	return m.guardian.Yield(now.Time, m.custody.last(), out)
}
