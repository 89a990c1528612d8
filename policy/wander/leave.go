package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// lastOffers is how many offers in a row must fail before a leaving member concludes that no member hears it. Until
// then it goes on to offer its token to the next member. By then, members that left at the same moment are no longer in
// its view.
const lastOffers = 3

// onLeave begins a graceful stop: it ends a run, passes the token on, and accepts no other. It offers the token to one
// member after the other until one takes it, because the first ones may have left at the same moment, and so may the
// token's guardians.
func (m *Machine) onLeave(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.custody.leaves() {
		return out
	}
	m.custody.stop()
	m.loss.close()
	m.handoff.Close()
	m.guardian.Close()
	switch m.custody.doing() {
	case running:
		m.cfg.Marks.Hit(markLeavesInRun)
		out = m.schedule.Stop(out)
	case resting, asking:
		out = m.pass(now, out)
	case saves:
		if m.custody.handsBack() {
			m.cfg.Marks.Hit(markLeavesBack)
			out = m.yield(now, out)
			break
		}
		m.cfg.Marks.Hit(markLeavesSaving)
		out = m.pass(now, m.retract(out))
	case absent, offering, doubting, gone:
	}
	return out
}

// leaveIfDone ends a graceful stop when no partner needs this member any longer: it holds no token, no token is on its
// way to it, and the time in which its last Commit may have to be repeated is over.
func (m *Machine) leaveIfDone(now policy.Instant, out []policy.Effect) []policy.Effect {
	if !m.custody.leaves() || !m.custody.in(absent) {
		return out
	}
	if at, ok := m.handoff.QuietAt(); !ok || now.Time < at {
		return out
	}
	m.custody.leave()
	out = policy.AppendTell(out, NoteLeft, wire.MemberID{}, nil)
	return append(out, policy.Effect{Kind: policy.Gone})
}

// onSuspended gives up the token, and a token that is about to arrive, because the other members may have made a new
// one while this host was asleep. If there are no others, the token stays. Under a kept grant the guardians are asked:
// a short sleep is no longer than a reboot. A run that slept too continues: stopping it would not undo what it has
// done.
func (m *Machine) onSuspended(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	out = m.handoff.Abandon(out)
	m.schedule.Disturb()
	o := m.outlook()
	m.loss.slept(&o, now.Time, ev.Slept)
	if !m.custody.holds() {
		return out
	}
	out = m.retract(out)
	switch {
	case m.walk.Alone():
		m.cfg.Marks.Hit(markSleptAlone)
		return m.keepAlone(now, out)
	case m.custody.keeps():
		m.cfg.Marks.Hit(markSleptKept)
		return m.doubt(now, out)
	}
	m.cfg.Marks.Hit(markSleptHolding)
	out = policy.AppendTell(out, NoteGaveUp, wire.MemberID{}, &m.custody.last().Ref)
	m.guardian.EndDoubt()
	m.custody.sleep()
	return m.letGo(now, policy.CauseAsleep, out)
}

// keepAlone continues with a token whose offer was abandoned.
func (m *Machine) keepAlone(now policy.Instant, out []policy.Effect) []policy.Effect {
	if !m.custody.in(offering) && !m.custody.in(doubting) && !m.custody.in(saves) && !m.custody.in(asking) {
		return out
	}
	m.walk.chooseGuardians(&m.cfg, now.Time, m.custody.last())
	return m.serve(now, m.guardian.Hold(now.Time, m.custody.last(), out))
}
