package wander

import (
	"slices"
	"strings"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// Slots is one member's part in a gate with several tokens: a machine for each. As many members may run at once as
// there are tokens, but one member runs once at a time: a run under one token counts for min_interval under all.
//
// The number of tokens may follow the members: see [soft.Share]. When it rises, a member makes the machines of the
// tokens that come into use, and they make these tokens as those of a fleet that starts. When it falls, nobody runs
// under a token too many any more: it is given up where it rests, and its guardians are told. Once nothing goes on
// under it, and no Commit may have to be repeated, its machine goes, too. Until then it takes no other offer. So a
// token that others still count does not come here, and goes on among them.
type Slots struct {
	machines  []Machine
	share     soft.Share
	announced bool
	effects   []policy.Effect
}

var _ policy.Slotted = (*Slots)(nil)

// NewGate returns the machine of a gate with that number of tokens, 1 to [wire.MaxSlots].
func NewGate(cfg Config, slots int) policy.Machine {
	if slots == 1 && cfg.SlotsShare == 0 {
		return New(cfg)
	}
	share := soft.NewShare(cfg.SlotsShare, slots)
	s := &Slots{machines: make([]Machine, share.InUse()), share: share}
	if cfg.Laps == nil {
		cfg.Laps = new(Laps)
	}
	cfg.LastSlot, cfg.uncounted = uint8(share.InUse()-1), share.IsShare()
	for i := range s.machines {
		cfg.Slot = uint8(i)
		s.machines[i] = *New(cfg)
	}
	return s
}

// Step applies one event: a message to the machine of its slot, the end of a run to the machine that runs, the rest to
// all machines.
func (s *Slots) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	// A message that is not expected changes nothing.
	if changes := ev.Kind != policy.Received || s.Expects(&ev.Msg); changes && s.share.Settle(now.Time) {
		out = s.count(now, out)
	}
	before := s.machines[0].walk.IDs
	for i := range s.machines {
		if s.concerns(i, now.Time, ev) {
			out = s.step(i, now, ev, out)
		}
	}
	if first := &s.machines[0]; ev.Kind == policy.PeersChanged && !slices.Equal(first.walk.IDs, before) {
		s.share.See(now.Time, first.walk.Count())
	}
	s.shrink(now.Time)
	return out
}

// count makes the machines of tokens that come into use, and ends what goes on under those that are too many.
func (s *Slots) count(now policy.Instant, out []policy.Effect) []policy.Effect {
	inUse := s.share.InUse()
	for i := range s.machines {
		s.effects = s.slot(i).use(now, inUse, s.effects[:0])
		out = s.carry(i, now.Time, out)
	}
	for len(s.machines) < inUse && !s.machines[0].custody.leaves() {
		out = s.grow(now, out)
	}
	return out
}

// grow makes the machine of one more token. Once it has started, without a past, it learns what the first one knows of
// this member and of the others.
func (s *Slots) grow(now policy.Instant, out []policy.Effect) []policy.Effect {
	s.machines[0].cfg.Marks.Hit(markGrows)
	first, last := &s.machines[0], len(s.machines)
	cfg := first.cfg
	cfg.Slot = uint8(last)
	m := New(cfg)
	begin := policy.Event{Kind: policy.Started, State: policy.State{Seq: s.record().Seq}}
	out = m.Step(now, &begin, out)
	m.schedule.Join(&first.schedule)
	m.numbers.Inherit(&first.numbers)
	s.machines = append(s.machines, *m)
	seen := policy.Event{Kind: policy.PeersChanged, Peers: s.machines[0].walk.IDs, Company: s.machines[0].hasCompany()}
	s.effects = s.slot(last).Step(now, &seen, s.effects[:0])
	return s.carry(last, now.Time, out)
}

// shrink ends the machines of tokens too many, from the last one on, once nothing goes on under them, and no Commit may
// have to be repeated. Their runs and numbers count as before.
func (s *Slots) shrink(now policy.Time) {
	for last := len(s.machines) - 1; last >= s.share.InUse(); last-- {
		m := &s.machines[last]
		if !m.custody.in(absent) || m.custody.leaves() {
			return
		}
		if quiet, ok := m.handoff.QuietAt(); !ok || now < quiet {
			return
		}
		s.machines[0].cfg.Marks.Hit(markShrinks)
		s.machines[0].schedule.Inherit(&m.schedule)
		s.machines[0].numbers.Inherit(&m.numbers)
		*m = Machine{}
		s.machines = s.machines[:last]
	}
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
	return s.carry(i, now.Time, out)
}

// carry appends the effects of one machine. Whatever that machine learns about this member, or about the number of
// slots of others, it shares with the other machines.
func (s *Slots) carry(i int, now policy.Time, out []policy.Effect) []policy.Effect {
	m := &s.machines[i]
	for j := range s.machines {
		s.machines[j].schedule.Share(&m.schedule)
		if at, mixed := m.walk.isMixed(); mixed {
			other := &s.machines[j]
			o := other.outlook()
			other.loss.beginIf(other.walk.mix(&other.cfg, now, at, o.maxInterval()), now)
		}
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
			if s.saidOnce(i, e.Note) {
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
	var all soft.Together
	for j := range s.machines {
		m := &s.machines[j]
		all.Add(j, m.custody.in(running) || m.custody.granting(), m.custody.in(resting) && m.custody.restsUntilDue(),
			&m.schedule, m.cfg.terms())
	}
	s.machines[i].schedule.Know(all.Without(i))
	return &s.machines[i]
}

// restore returns the part of the record for one machine: the run belongs to its slot. If that slot no longer exists,
// because there are fewer now, the first slot gets the run without its token, which cannot come back. A run in the
// future counts as one that starts now; otherwise no later run would replace it in the record.
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

// saidOnce reports whether a note is about this member, not about a token, and another slot tells it.
func (s *Slots) saidOnce(i int, n policy.Note) bool {
	return n == NoteWaiting && i > 0 || n == NoteLeft && s.othersStay()
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

// NextWake is the earliest of all slots, and when the number of tokens follows the members.
func (s *Slots) NextWake() (at policy.Time, ok bool) {
	at = s.share.SettlesAt()
	for i := range s.machines {
		if t, ok := s.machines[i].NextWake(); ok {
			at = min(at, t)
		}
	}
	return at, at < policy.Never
}

// Expects asks the machine of the message's slot, or the first one if this member does not have that slot.
func (s *Slots) Expects(m *wire.Message) bool { return s.machines[s.slotOf(m)].Expects(m) }

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
func (s *Slots) Slots() int { return len(s.machines) }

// SlotStatus is the status of one slot; zero if this member does not have that slot.
func (s *Slots) SlotStatus(slot int, now policy.Time) policy.Status {
	if slot >= len(s.machines) {
		return policy.Status{}
	}
	return s.slot(slot).Status(now)
}

// Facts appends the times of the busiest slot, an op that any slot has measured, and the guardians of all slots.
func (s *Slots) Facts(now policy.Time, out []policy.Fact) []policy.Fact {
	busiest := &s.machines[s.busiest()]
	op, source := busiest.measures.opFrom(&busiest.cfg)
	if s.share.IsShare() {
		out = append(out, policy.Fact{Key: policy.KeySlotsShare, Count: busiest.cfg.SlotsShare})
	}
	for i := range s.machines {
		if other, from := s.machines[i].measures.opFrom(&busiest.cfg); source == OpAssumed && from == OpMeasured {
			op, source = other, from
		}
	}
	begin := len(out)
	out = busiest.schedule.WindowFacts(now, busiest.paceFacts(now, out))
	for i := range out[begin:] {
		if f := &out[begin+i]; f.Key == policy.KeyOp {
			f.For, f.Text = op, source.String()
		}
	}
	for i := range s.machines {
		m := &s.machines[i]
		out = m.custody.facts(now, m.cfg.Slot, &m.guardian, out)
	}
	return out
}

// busiest returns the first slot that runs, or else the first one that holds its token.
func (s *Slots) busiest() (slot int) {
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

// String returns one line for traces.
func (s *Slots) String() string {
	lines := make([]string, len(s.machines))
	for i := range s.machines {
		lines[i] = s.machines[i].String()
	}
	return strings.Join(lines, "; ")
}
