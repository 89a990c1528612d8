package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
)

// While a token rests at a member, callers may come and go, the host may report that it needs a run, and an operator
// may pause the gate. That changes when the member is due, and what it does with the token. The token still visits all
// members, and rests for skip at a member that does not want it.

// dueAt is when this member may run: see schedule.
func (m *Machine) dueAt(now policy.Time) policy.Time {
	return m.schedule.Due(m.cfg.terms(), now, m.unusedUntil(now))
}

// unusedUntil is until when this member keeps the held token unused, if that is later than now: because of what it ran
// in an earlier life, or because a former holder has gone in its soak.
func (m *Machine) unusedUntil(now policy.Time) (at policy.Time) {
	if m.custody.holds() {
		at = m.guardian.Unused()
	}
	if shelves(&m.cfg, &m.schedule, now, m.custody.held(), m.walk.Count()) {
		at = max(at, m.schedule.UnshelvedAt(m.cfg.terms()))
	}
	return at
}

// shelves reports whether this member keeps the held token unused now.
func (m *Machine) shelves(now policy.Time) bool { return m.unusedUntil(now) > now }

// dueSoon reports whether this member keeps the token until it is due.
func (m *Machine) dueSoon(now, due policy.Time) bool {
	return dueSoon(&m.cfg, &m.schedule, now, due, m.walk.lapLength(&m.cfg))
}

// dueSoon reports whether a member that is not due yet keeps the token until it is. If the token comes a moment too
// early, the next chance is a lap later, and the resource idles meanwhile. This pays only if the token comes at regular
// times, and if no other token waits here.
func dueSoon(cfg *Config, s *soft.Schedule, now, due policy.Time, lapLength int) bool {
	return cfg.Walk == Sweep && !s.Waiting() && due.Sub(now) <= policy.Times(lapLength, cfg.Skip)
}

// onWanted handles the arrival of a caller that waits for a run here. A token that rests here is used at once, unless
// it has had a grant on this visit: a member that is wanted again and again must not keep it.
func (m *Machine) onWanted(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.schedule.Want(m.cfg.terms(), m.custody.in(running) && !m.schedule.IsCallers())
	return m.reconsider(now, out)
}

// reconsider uses a token that rests here at once if this member has become due.
func (m *Machine) reconsider(now policy.Instant, out []policy.Effect) []policy.Effect {
	due, had := m.dueAt(now.Time), m.numbers.WasGranted(m.custody.last().Seq)
	switch {
	case !m.custody.in(resting) || had && !m.walk.Alone():
	case now.Time >= due || m.walk.Alone() || !m.custody.restsUntilDue() && m.dueSoon(now.Time, due):
		return m.serve(now, out)
	}
	return out
}

// onUnwanted handles the end of a demand: no caller waits any longer. A run that has not started does not start. A
// token that was kept only until this member is due rests for skip, as at any other member.
func (m *Machine) onUnwanted(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.schedule.Unwant()
	if m.cfg.OnDemand || m.custody.granting() && m.schedule.IsCallers() {
		return m.desist(now, out)
	}
	return out
}

// desist ends a wait for the due time, because this member is no longer due.
func (m *Machine) desist(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.custody.granting() {
		m.cfg.Marks.Hit(markDesistsGranted)
		return m.serve(now, m.retract(out))
	}
	m.cfg.Marks.Hit(markDesists)
	m.custody.desist(now.Time.Add(m.cfg.Skip))
	return out
}

// onDirected pauses the gate or continues it. While it is paused, the token goes round and rests for skip at each
// member, as if no member were due.
func (m *Machine) onDirected(now policy.Instant, paused bool, out []policy.Effect) []policy.Effect {
	if m.schedule.Pause(paused); paused {
		return m.desist(now, out)
	}
	return m.reconsider(now, out)
}

// If the host reports that it needs a run while the token rests here, the token is used as if a caller had come. If the
// host withdraws that while the start of its run is being saved, this run does not start.

var (
	_ policy.Askable = (*Machine)(nil)
	_ policy.Askable = (*Slots)(nil)
)

// SetReady implements [policy.Askable].
func (m *Machine) SetReady(own, callers bool) { m.custody.ready(m.schedule.SetReady(own, callers)) }

// DueAt implements [policy.Askable].
func (m *Machine) DueAt(now policy.Time) policy.Time {
	return m.schedule.IfReady(m.cfg.terms(), now, m.unusedUntil(now))
}

// SetReady implements [policy.Askable].
func (s *Slots) SetReady(own, callers bool) {
	for i := range s.machines {
		s.machines[i].SetReady(own, callers)
	}
}

// DueAt implements [policy.Askable]. A run counts under all tokens, so the time is the same under each.
func (s *Slots) DueAt(now policy.Time) policy.Time {
	return s.slot(0).DueAt(now)
}
