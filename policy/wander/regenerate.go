package wander

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// Figure 2: K1loss = 1.5, K2loss = 0.05, here as the fractions by which Δgen rises and falls.
const (
	raiseFraction = 2
	lowerFraction = 20
)

// silence says since when no token has come, and how long a silence must last until it means a loss.
type silence struct {
	// raised is how far false alarms have raised Δgen above Δmax, as a share of Δmax.
	raised float64
	// since is when the last token was here, or was seen by another member. In the second case told is what the other member saw, and holdOff the time
	// that this member waits longer.
	since   policy.Time
	holdOff time.Duration
	told    hearsay
	// gaveWay is how often this member has given way in this silence.
	gaveWay uint8
}

// maxInterval is Δmax.
func (m *Machine) maxInterval() time.Duration { return m.measures.maxInterval(&m.cfg, m.walk.count()) }

// regenerates reports whether this member makes a new token after a silence. It does not while it waits for a fleet that it has never
// seen, or if the token never comes here.
func (m *Machine) regenerates() bool {
	return !m.leaving && m.walk.comesHere() && (m.cfg.Rejoins || !m.waitsAlone())
}

func (m *Machine) regenerateAt() policy.Time {
	return m.unlessArriving(m.silence.since.Add(m.regenerateAfter()).Add(m.silence.holdOff))
}

// beginSilence: a token was here just now, or this member has heard from its holder.
func (m *Machine) beginSilence(now policy.Time) {
	m.silence.since, m.silence.holdOff, m.silence.told, m.silence.gaveWay = now, 0, hearsay{}, 0
}

// unlessArriving postpones the making of a token while one may be about to arrive, for two patiences: within these a handoff in progress
// ends. It does not postpone it further, so replayed Tokens, one after the other, do not keep this member waiting.
func (m *Machine) unlessArriving(at policy.Time) policy.Time {
	if !m.handoff.Receiving() {
		return at
	}
	return at.Add(m.handoff.Patience()).Add(m.handoff.Patience())
}

// regenerate: "generating a new token when a component does not receive one within a timeout" (section 5). Each time it raises
// Δgen. The new token is passed on at once, as in figure 2: if the old one is not really lost, another member may remove this one before
// anything runs under it.
func (m *Machine) regenerate(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.raiseRegenerateAfter()
	out = m.make(now, NoteRegenerated, originLost, out)
	if m.walk.alone() {
		return m.serve(now, out)
	}
	return m.pass(now, out)
}

// regenerateAfter is Δgen. Only false alarms raise it above Δmax, by a share of Δmax. So Δgen falls when Δmax does: when the operation
// has become shorter, or members have left.
func (m *Machine) regenerateAfter() time.Duration {
	least := m.maxInterval()
	if m.silence.raised == 0 {
		return least
	}
	above := math.Round(m.silence.raised * float64(least))
	if above >= float64(math.MaxInt64-least) {
		return math.MaxInt64
	}
	return least + time.Duration(above)
}

// raiseRegenerateAfter raises Δgen "at a constant rate (50% in our simulation) each time the component needs to regenerate a new token"
// (section 5.1), to the end of the range.
func (m *Machine) raiseRegenerateAfter() {
	after := m.regenerateAfter()
	m.setRegenerateAfter(after + min(after/raiseFraction, math.MaxInt64-after))
}

// lowerRegenerateAfter: Δgen falls by "a small fraction (5% in our simulation) of the difference from Δmax each time the
// component receives a token" (section 5.1).
func (m *Machine) lowerRegenerateAfter() {
	after := m.regenerateAfter()
	m.setRegenerateAfter(after - (after-m.maxInterval())/lowerFraction)
}

func (m *Machine) setRegenerateAfter(after time.Duration) {
	least := m.maxInterval()
	m.silence.raised = float64(after-least) / float64(least)
}

// make makes a new token, held here.
func (m *Machine) make(now policy.Instant, why policy.Note, from origin, out []policy.Effect) []policy.Effect {
	birth, seq := m.numbers.create(now)
	token := guardian.Token{Ref: wire.Ref{
		ID:  wire.TokenID{Birth: birth, Generator: m.cfg.Self, Random: from.random(m.cfg.Entropy.Uint64())},
		Seq: seq, Slot: m.cfg.Slot,
	}}
	SetOp(&token.Load, m.measures.estimate())
	out = policy.AppendTell(out, why, wire.MemberID{}, &token.Ref)
	out = m.take(now, policy.CauseMade, wire.MemberID{}, &token, m.save(out))
	return m.meetToken(out)
}
