package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A save takes time, and a disk may hang. Two things wait until they are saved: a run, because after a restart within
// min_interval the member would run again; and a token with a number of a new epoch, because after a restart the member
// would give the same number to another token. Meanwhile the member holds the token and sends heartbeats, so its
// guardians do not revive it. It waits for less than their patience; then the run is denied and the token is passed on.

// becomeGranting grants the protected operation. The run is saved before it starts, so that a restart within
// min_interval does not run it again.
func (m *Machine) becomeGranting(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.custody.setSeq(m.numbers.Grant(m.custody.last().Seq))
	m.schedule.Grant(m.cfg.terms(), now.Time)
	if m.cfg.Keep > 0 {
		return m.askToKeep(now, out)
	}
	return m.saveGrant(now, out)
}

// saveGrant saves the start of the granted run.
func (m *Machine) saveGrant(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.custody.save(&m.cfg, now.Time, true)
	return m.save(out)
}

// onSaved decides again, because things may have changed meanwhile, or it may be too late. A save that takes too long
// counts as failed.
func (m *Machine) onSaved(now policy.Instant, failed bool, out []policy.Effect) []policy.Effect {
	m.numbers.Saved()
	out = m.guardian.Saved(failed, out)
	switch {
	case !m.custody.in(saves), m.custody.askingToKeep(), m.custody.handsBack():
		return out
	case !m.custody.granting():
		return m.pass(now, out)
	case failed || now.Time >= m.custody.until():
		m.cfg.Marks.Hit(markSaveFailed)
		return m.deny(now, out)
	}
	return m.becomeRunning(now, out)
}

// deny ends a grant that leads to no run. The grant does not count as a run, neither here nor on the disk. The token
// rests for skip and is passed on.
func (m *Machine) deny(now policy.Instant, out []policy.Effect) []policy.Effect {
	out = policy.AppendTell(out, NoteDenied, wire.MemberID{}, &m.custody.last().Ref)
	out = m.retract(out)
	switch {
	case !m.custody.holds():
		m.cfg.Marks.Hit(markDeniedWithout)
		m.becomeAbsent(now)
		return out
	case m.guardian.Doubting():
		m.cfg.Marks.Hit(markDeniedInDoubt)
		m.custody.doubt()
		return out
	case m.custody.leaves():
		return m.pass(now, out)
	}
	return m.restOnce(now.Time, out)
}

// retract withdraws a grant whose run has not started, if there is one, and saves the state before it.
func (m *Machine) retract(out []policy.Effect) []policy.Effect {
	if m.custody.retract() {
		m.cfg.Marks.Hit(markRetracts)
		m.guardian.EndKeep()
		return m.save(out)
	}
	return out
}

// save saves the state of this member.
func (m *Machine) save(out []policy.Effect) []policy.Effect {
	m.guardian.Saving()
	return policy.AppendSave(out, m.record())
}

// record is the state to save: a granted run counts before it starts.
func (m *Machine) record() policy.State {
	s, ran := m.schedule.Record(m.cfg.terms())
	s.Seq = m.numbers.Highest()
	if m.custody.granting() && !m.custody.askingToKeep() && !m.schedule.IsCallers() {
		s.HasRun, s.LastRun = true, m.custody.until().Add(-m.cfg.SaveWithin())
		ran.Token, ran.Wait, ran.Members = m.custody.last().ID, 0, uint32(m.walk.Count())
	}
	s.Memo, s.Kept = ran.Bytes(), m.kept()
	return s
}
