package call

import (
	"github.com/wanderd/wanderd/policy"
)

// The reasons why a member does not run its operation now, as clauses that complete "not running because …"; packages
// soft and pace have others.
const (
	// WhyRunning: it runs.
	WhyRunning = "running"
	// WhyNoToken: it is due, and has called the token.
	WhyNoToken = "due, waiting for the token"
	// WhyPassing: it is due only after this token has been passed on.
	WhyPassing = "passing the token on"
	// WhyLeaving: it is stopping.
	WhyLeaving = "leaving"
	// WhySaving: it is due, and the start of its run is being saved.
	WhySaving = "due, recording the start"
	// WhyAsking: it is due and holds the token, and waits for the word of a home that no other copy is newer.
	WhyAsking = "due, waiting for a home's answer"
)

// Status describes this member.
func (m *Machine) Status(now policy.Time) policy.Status {
	next := m.schedule.Next(m.cfg.terms(), now, m.unusedUntil())
	s := policy.Status{
		Phase: m.custody.state.String(), Why: m.notRunning(now, next), NextRun: next, Since: m.silentSince(),
		Holding: m.custody.holds(), Token: m.custody.token.Ref,
	}
	s.LastRun, s.HasRun = m.schedule.LastRun()
	switch holder := m.known.holder; {
	case m.custody.holds():
		s.Holder = m.cfg.Self
	case holder != m.cfg.Self && !holder.IsZero():
		s.Holder, s.Token = holder, m.known.ref
	}
	return s
}

// silentSince is since when this member has not heard of the token although it should have: it looks for it, or guards
// it and knows of waiters, or its own call is not answered. Otherwise silence means nothing, and it is Never: a holder
// at rest is silent, and a home that has queued a call lets the caller pause.
func (m *Machine) silentSince() policy.Time {
	since, c := policy.Never, &m.caller
	switch {
	case !c.waits():
	case c.turn.home.IsZero() || c.word.Seq == 0:
		since = c.since
	case c.step != toFirst:
		since = c.began
	}
	if m.search.live() {
		since = min(since, m.search.since)
	}
	if m.guards() && m.queue.len() > 0 {
		since = min(since, m.queue.list[0].since)
	}
	if since == policy.Never {
		return policy.Never
	}
	return max(since, m.known.at)
}

// Facts appends the other facts about this member.
func (m *Machine) Facts(now policy.Time, out []policy.Fact) []policy.Fact {
	return m.tokenFacts(now, m.gateFacts(now, out))
}

// gateFacts are about this member, whichever token it gets.
func (m *Machine) gateFacts(now policy.Time, out []policy.Fact) []policy.Fact {
	out = append(out,
		policy.Fact{Key: policy.KeySkip, For: m.cfg.Skip},
		policy.Fact{Key: policy.KeyMinInterval, For: m.cfg.MinInterval},
		policy.Fact{Key: policy.KeyBackups, Count: m.cfg.homes()},
		policy.Fact{Key: policy.KeyMaxInterval, For: m.cfg.maxInterval()},
		policy.Fact{Key: policy.KeyOnLost, Text: m.cfg.OnLost.String()})
	if m.cfg.SlotsShare > 0 {
		out = append(out, policy.Fact{Key: policy.KeySlotsShare, Count: m.cfg.SlotsShare})
	}
	return m.schedule.WindowFacts(now, m.schedule.Facts(m.cfg.terms(), now, out))
}

// tokenFacts are about the token: who has copies of it, who the homes are, who waits, and what this member waits for.
func (m *Machine) tokenFacts(now policy.Time, out []policy.Fact) []policy.Fact {
	slot := m.cfg.Slot
	if holder, guards := m.guardian.Keeps(); guards {
		out = append(out, policy.Fact{Key: policy.KeyKeeps, Slot: slot, Member: holder})
	}
	out = m.guardian.AppendFacts(now, slot, m.custody.held(), out)
	switch {
	case m.custody.holds():
		trail := m.custody.token.Trail()
		for _, id := range trail[:trail.Len()] {
			out = append(out, policy.Fact{Key: policy.KeyGuardian, Slot: slot, Member: id})
		}
	case m.known.ref.Seq != 0:
		out = append(out, policy.Fact{Key: policy.KeyHeard, Slot: slot, At: m.known.at})
	}
	for rank := range m.cfg.homes() {
		if id, ok := m.view.home(rank); ok {
			out = append(out, policy.Fact{Key: policy.KeyHome, Slot: slot, Member: id})
		}
	}
	if m.queues() {
		out = m.queueFacts(now, out)
	}
	return m.callFacts(now, out)
}

// callFacts are about this member's own wait. A home that waits is in its own queue.
func (m *Machine) callFacts(now policy.Time, out []policy.Fact) []policy.Fact {
	c := &m.caller
	if !c.waits() || !c.called {
		return out
	}
	out = append(out, policy.Fact{Key: policy.KeyCalls, Slot: m.cfg.Slot, At: c.since})
	f := policy.Fact{
		Key: policy.KeyQueued, Slot: m.cfg.Slot, Member: c.turn.home, At: c.wordAt, Count: c.turn.before,
		For: c.turn.held,
	}
	switch i := m.queue.find(m.cfg.Self); {
	case i >= 0:
		holder, _ := m.whereabouts()
		f.Member, f.At, f.Count, f.For = m.cfg.Self, now, m.before(&m.queue.list[i], holder), 0
		if !holder.IsZero() {
			f.For = now.Sub(m.known.since)
		}
	case c.turn.home.IsZero():
		return out
	case m.known.ref != c.word || m.known.holder.IsZero():
		f.For = 0 // It is not about the holder that this member knows now.
	}
	return append(out, f)
}

// queueFacts are about those that wait: how many they are, and the oldest.
func (m *Machine) queueFacts(now policy.Time, out []policy.Fact) []policy.Fact {
	as := "guardian"
	switch {
	case m.custody.holds():
		as = "holder"
	case m.view.isHome(&m.cfg, m.cfg.Self):
		as = "home"
	}
	out = append(out, policy.Fact{Key: policy.KeyWaiters, Slot: m.cfg.Slot, Count: m.queue.len(), Text: as})
	for i := range min(m.queue.len(), mostTold) {
		w := &m.queue.list[i]
		f := policy.Fact{Key: policy.KeyWaiter, Slot: m.cfg.Slot, Member: w.id, At: w.since}
		if m.view.avoid.Has(w.id, now) {
			f.Text = "does not answer"
		}
		out = append(out, f)
	}
	return out
}
