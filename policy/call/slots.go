package call

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// Slots is one member's part in a gate with several tokens: a machine for each, with homes, a queue and guardians of
// its own. As many members may run at once as there are tokens, but one member runs once at a time: a run under one
// token counts for min_interval under all.
//
// S1 One wait. A member has one wait, and stands with it in the queues of one or more tokens. Whichever token comes
// first serves it; the calls for the others are withdrawn, and a home that has told the holder of a wait tells it of
// the withdrawal too. A token that comes in vain goes to the next waiter.
//
// S2 First call. A wait calls one token first: one that rests here; else the one under which this member ran last; at
// first, the one of its place among the members.
//
// S3 Next calls. A patience divided by four after that, or as soon as all homes that were called have answered that
// others wait there, it calls as many tokens again, and so on: it is in the queues of 16 after P, and of 64 after half
// as long again. So no token rests for long while a member waits, and the oldest wait is first in every queue.
type Slots struct {
	machines []Machine
	plan     plan
	share    soft.Share
	// announced is true once this member has announced itself.
	announced bool
	effects   []policy.Effect
}

var (
	_ policy.Slotted   = (*Slots)(nil)
	_ policy.Tunable   = (*Slots)(nil)
	_ policy.Renewable = (*Slots)(nil)
	_ policy.Askable   = (*Slots)(nil)
)

// NewGate returns the machine of a gate with as many tokens as its settings say.
func NewGate(cfg Config) policy.Machine {
	if cfg.slots() == 1 {
		return New(cfg)
	}
	share := soft.NewShare(cfg.SlotsShare, cfg.slots())
	s := &Slots{machines: make([]Machine, share.InUse()), share: share}
	for i := range s.machines {
		cfg.Slot = uint8(i)
		s.machines[i] = *New(cfg)
	}
	s.plan.reset(0)
	s.instruct()
	return s
}

// Step applies one event: a message to the machine of its slot, the end of a run to the machine that runs, the rest to
// all machines. Then every machine takes into account what the others do.
func (s *Slots) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if at, _ := s.NextWake(); ev.Kind == policy.Woke && now.Time < at {
		return out
	}
	if ev.Kind == policy.Leave {
		s.share.Fix()
	}
	out = s.growFor(now, ev, out)
	before := s.machines[0].view.IDs
	switch {
	case ev.Kind == policy.Received && !s.Expects(&ev.Msg):
		return s.step(s.slotOf(&ev.Msg), now, ev, out) // It changes nothing.
	}
	for i := range s.machines {
		s.machines[i].see(now)
	}
	for i := range s.machines {
		if s.concerns(i, now.Time, ev) {
			out = s.step(i, now, ev, out)
		}
	}
	if ids := s.machines[0].view.IDs; ev.Kind == policy.PeersChanged && !slices.Equal(ids, before) {
		s.share.See(now.Time, s.machines[0].view.Count())
	}
	return s.settle(now, ev.Kind, out)
}

func (s *Slots) concerns(i int, now policy.Time, ev *policy.Event) bool {
	switch ev.Kind {
	case policy.Received:
		return s.slotOf(&ev.Msg) == i
	case policy.Finished, policy.Soaks:
		return s.machines[i].custody.in(running)
	case policy.Renew:
		return int(ev.Slot) == i && i < s.share.InUse()
	case policy.Woke:
		at, ok := s.machines[i].NextWake()
		return ok && at <= now
	case policy.Started, policy.PeersChanged, policy.Saved, policy.Wanted, policy.Unwanted, policy.Suspended,
		policy.Directed, policy.Leave:
	}
	return true
}

// step gives an event to one machine.
func (s *Slots) step(i int, now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if ev.Kind == policy.Started {
		own := *ev
		own.State = s.restore(i, now.Time, ev.State)
		ev = &own
	}
	s.effects = s.slot(i).Step(now, ev, s.effects[:0])
	return s.carry(i, out)
}

// settle lets every machine act on what has changed for this member, until nothing changes any more.
func (s *Slots) settle(now policy.Instant, on policy.EventKind, out []policy.Effect) []policy.Effect {
	for range 2 * wire.MaxSlots {
		before := s.plan
		if s.replan(now.Time); s.plan == before {
			break
		}
		for i := range s.machines {
			if m := s.slot(i); !m.custody.in(gone) {
				s.effects = m.settle(now, on, s.effects[:0])
				out = s.carry(i, out)
			}
		}
	}
	all := s.together()
	for i := range s.machines {
		s.machines[i].schedule.Know(all.Without(i))
	}
	return out
}

// carry appends the effects of one machine. Whatever that machine has learned about this member, the other machines
// learn too.
func (s *Slots) carry(i int, out []policy.Effect) []policy.Effect {
	m := &s.machines[i]
	for j := range s.machines {
		other := &s.machines[j]
		other.schedule.Share(&m.schedule)
		other.custody.deniedUntil = max(other.custody.deniedUntil, m.custody.deniedUntil)
	}
	for k := range s.effects {
		e := &s.effects[k]
		switch e.Kind {
		case policy.Save:
			e.State = s.record()
		case policy.Announce:
			if s.announced {
				continue
			}
			s.announced = true
		case policy.Tell:
			if e.Note == NoteLeft && s.othersStay() {
				continue
			}
		case policy.Gone:
			if s.othersStay() {
				continue
			}
		case policy.Send, policy.Run, policy.Extend, policy.Stop, policy.PreSign, policy.Took, policy.Gave,
			policy.Proclaim:
		}
		out = append(out, *e)
	}
	return out
}

// slot returns the machine of a slot, after telling it the state of the others.
func (s *Slots) slot(i int) *Machine {
	all := s.together()
	s.machines[i].schedule.Know(all.Without(i))
	return &s.machines[i]
}

// together sums up what the machines of all slots do.
func (s *Slots) together() (t soft.Together) {
	for i := range s.machines {
		m := &s.machines[i]
		t.Add(i, m.custody.in(running) || m.custody.granting(), false, &m.schedule, m.cfg.terms())
	}
	return t
}

// restore returns the part of the record for one machine: the run belongs to its slot. If that slot no longer exists,
// because there are fewer now, the first slot gets the run. A run in the future counts as one that starts now;
// otherwise no later run would replace it in the record.
func (s *Slots) restore(i int, now policy.Time, saved policy.State) policy.State {
	saved.LastRun = min(saved.LastRun, now)
	mine, owner := saved, int(soft.MemoOf(&saved.Memo).Slot)
	if owner >= len(s.machines) {
		owner = 0
	}
	mine.HasRun = saved.HasRun && owner == i
	return mine
}

// record is the state to save: one record for all tokens.
func (s *Slots) record() policy.State {
	all := s.machines[0].record()
	for i := range s.machines {
		own := s.machines[i].record()
		seq := max(all.Seq, own.Seq)
		if own.HasRun && (!all.HasRun || own.LastRun > all.LastRun) {
			all = own
		}
		all.Seq = seq
	}
	return all
}

// othersStay reports whether some slot has not left yet.
func (s *Slots) othersStay() bool {
	for i := range s.machines {
		if !s.machines[i].custody.in(gone) {
			return true
		}
	}
	return false
}

// NextWake is the earliest of all slots, and of the next calls.
func (s *Slots) NextWake() (at policy.Time, ok bool) {
	at = min(s.plan.nextAt, s.share.SettlesAt())
	for i := range s.machines {
		if t, ok := s.machines[i].NextWake(); ok {
			at = min(at, t)
		}
	}
	return at, at < policy.Never
}

// Expects asks the machine of the message's slot. A message for a slot that this member does not have changes nothing.
func (s *Slots) Expects(m *wire.Message) bool {
	return s.mayHave(m) || s.machines[s.slotOf(m)].Expects(m)
}

func (s *Slots) slotOf(m *wire.Message) int {
	if slot := int(m.Token.Slot); slot < len(s.machines) {
		return slot
	}
	return 0
}

// Status returns the status of the busiest slot. The last run is the last one under any token, because min_interval
// counts for all.
func (s *Slots) Status(now policy.Time) policy.Status {
	status := s.SlotStatus(s.busiest(), now)
	for i := range s.machines {
		if at, hasRun := s.machines[i].schedule.LastRun(); hasRun && (!status.HasRun || at > status.LastRun) {
			status.HasRun, status.LastRun = true, at
		}
	}
	return status
}

// Slots returns the number of slots in use, and those up to the one under which this member still runs.
func (s *Slots) Slots() int {
	for i := len(s.machines); i > s.share.InUse(); i-- {
		if s.machines[i-1].custody.in(running) {
			return i
		}
	}
	return s.share.InUse()
}

// SlotStatus is the status of one slot; zero if this member does not have that slot.
func (s *Slots) SlotStatus(slot int, now policy.Time) policy.Status {
	if slot >= len(s.machines) {
		return policy.Status{}
	}
	return s.slot(slot).Status(now)
}

// Facts appends the facts of the gate once, and those of each token.
func (s *Slots) Facts(now policy.Time, out []policy.Fact) []policy.Fact {
	out = s.slot(s.busiest()).gateFacts(now, out)
	for i := range s.machines {
		out = s.machines[i].tokenFacts(now, out)
	}
	return out
}

// busiest returns the first slot that runs, or else the first one that holds its token, or else the one that is called.
func (s *Slots) busiest() (slot int) {
	slot = bits.TrailingZeros64(s.plan.calls)
	for i := range s.machines {
		switch m := &s.machines[i]; {
		case m.custody.in(running):
			return i
		case m.custody.holds() && !s.machines[slot].custody.holds():
			slot = i
		}
	}
	return slot
}

// Knows implements [policy.Renewable].
func (s *Slots) Knows(slot int, now policy.Time) string {
	if slot >= s.share.InUse() {
		return s.machines[0].Knows(wire.MaxSlots, now)
	}
	return s.machines[slot].Knows(slot, now)
}

// Tune tunes the machines of all slots.
func (s *Slots) Tune(p policy.Protocol) bool {
	for i := range s.machines {
		if !s.machines[i].Tune(p) {
			return false // The first one refuses if any does.
		}
	}
	return true
}

// SetReady implements [policy.Askable].
func (s *Slots) SetReady(own, callers bool) {
	for i := range s.machines {
		s.machines[i].SetReady(own, callers)
	}
}

// DueAt implements [policy.Askable]. A run counts under all tokens, so the time is the same under each.
func (s *Slots) DueAt(now policy.Time) policy.Time { return s.slot(0).DueAt(now) }

// String returns one line for traces.
func (s *Slots) String() string {
	lines := make([]string, len(s.machines))
	for i := range s.machines {
		lines[i] = s.machines[i].String()
	}
	return strings.Join(lines, "; ")
}
