package call

import (
	"math/bits"

	"github.com/wanderd/wanderd/policy"
)

// plan is which tokens of the gate this member calls.
type plan struct {
	// calls are the slots that are called, or will be when this member begins to wait.
	calls uint64
	// last is the slot that is called first if no token rests here. ran is true if this member has run under its token.
	last uint8
	ran  bool
	// waits is true while this member waits, busy while it runs or is about to.
	waits, busy bool
	since       policy.Time
	// nextAt is when more slots are called.
	nextAt policy.Time
	// inUse is how many slots may be called (S4).
	inUse int
}

// stand is what the plan tells the machine of one slot.
type stand struct {
	// idle is true if this slot is not called. follows is true if the wait that began at since called another slot
	// first.
	idle, follows bool
	since         policy.Time
}

// reset goes back to the slot that the next wait calls first.
func (p *plan) reset(first int) {
	p.calls, p.waits, p.since, p.nextAt = 1<<first, false, 0, policy.Never
}

// has reports whether a slot is called.
func (p *plan) has(slot int) bool { return p.calls&(1<<slot) != 0 }

// first is the slot that a wait calls first (S2).
func (s *Slots) first() int {
	first := int(s.plan.last) % s.share.InUse()
	if s.machines[first].custody.in(resting) {
		return first
	}
	for i := range s.share.InUse() {
		if s.machines[i].custody.in(resting) {
			return i
		}
	}
	return first
}

// replan decides which slots are called, and tells the machines.
func (s *Slots) replan(now policy.Time) {
	p := &s.plan
	if !p.ran && !p.waits {
		p.last = uint8(s.machines[0].view.Rank % s.share.InUse())
	}
	p.busy, p.inUse = false, s.share.InUse()
	var first *caller
	for i := range s.machines {
		m := &s.machines[i]
		if m.custody.in(running) || m.custody.granting() {
			p.busy, p.ran, p.last = true, true, uint8(i)
		}
		if m.caller.waits() && first == nil {
			first = &m.caller
		}
	}
	switch {
	case p.busy:
		p.reset(int(p.last))
	case first == nil:
		p.reset(s.first())
	case !p.waits:
		p.waits, p.since, p.nextAt = true, first.since, first.callsAt().Add(s.machines[0].cfg.patience()/callsMore)
	default:
		s.callMore(now)
	}
	if p.calls &= 1<<p.inUse - 1; p.calls == 0 {
		p.calls = 1 << s.first()
	}
	s.instruct()
}

// callsMore is the part of a patience after which more slots are called.
const callsMore = 4

// callMore calls more slots if that is due, and those whose tokens have come in vain (S3).
func (s *Slots) callMore(now policy.Time) {
	p, n := &s.plan, s.share.InUse()
	late, coming := true, false
	for i := range n {
		m := &s.machines[i]
		if m.custody.in(resting) {
			m.cfg.Marks.Hit(markCalledInVain)
			p.calls |= 1 << i
		}
		late = late && (!p.has(i) || m.caller.isLate())
		coming = coming || p.has(i) && m.handoff.Receiving()
	}
	if all := bits.OnesCount64(p.calls) == n; all || now < p.nextAt && !late {
		if all {
			p.nextAt = policy.Never
		}
		return
	}
	p.nextAt = now.Add(s.machines[0].cfg.patience() / callsMore)
	if coming {
		s.machines[0].cfg.Marks.Hit(markTokenComing)
		return
	}
	s.machines[0].cfg.Marks.Hit(markCallsMore)
	more := bits.OnesCount64(p.calls)
	for i := int(p.last) % n; more > 0 && bits.OnesCount64(p.calls) < n; i = (i + 1) % n {
		if !p.has(i) {
			p.calls |= 1 << i
			more--
		}
	}
}

// instruct tells the machines which of them call.
func (s *Slots) instruct() {
	p := &s.plan
	for i := range s.machines {
		s.machines[i].stand = stand{idle: !p.has(i), follows: p.waits, since: p.since}
	}
}
