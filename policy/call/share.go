package call

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// S4 Share. A member counts the tokens in use by its own view: the share, rounded down, at least 1 and at most 64. The
// number changes when the view has not changed for a minute, and is 1 until then: see [soft.Share]. A member calls only
// tokens in use. One too many goes to those that still call it, because they count more, and then stays where it rests:
// a token on call sends nothing there, and nobody runs under it. If the number rises again, it is there.

// grow makes the machines of more tokens, when they come into use, or when another member that counts more asks for
// one: once they have started, without a past, they learn what the first one knows of this member and of the others.
func (s *Slots) grow(to int, now policy.Instant, out []policy.Effect) []policy.Effect {
	for len(s.machines) < to {
		first := &s.machines[0]
		cfg := first.cfg
		cfg.Slot = uint8(len(s.machines))
		m := New(cfg)
		m.stand.idle = true
		begin := policy.Event{Kind: policy.Started, State: policy.State{Seq: s.record().Seq}}
		out = m.Step(now, &begin, out)
		m.schedule.Join(&first.schedule)
		s.machines = append(s.machines, *m)
		if seen := (policy.Event{Kind: policy.PeersChanged, Peers: s.machines[0].view.IDs}); len(seen.Peers) > 0 {
			last := len(s.machines) - 1
			s.effects = s.slot(last).Step(now, &seen, s.effects[:0])
			out = s.carry(last, out)
		}
	}
	return out
}

// growFor makes the machines that an event needs.
func (s *Slots) growFor(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	s.share.Settle(now.Time)
	to := s.share.InUse()
	if ev.Kind == policy.Received && s.mayHave(&ev.Msg) {
		to = max(to, int(ev.Msg.Token.Slot)+1)
	}
	if to > len(s.machines) && !s.machines[0].custody.leaving {
		return s.grow(to, now, out)
	}
	return out
}

// mayHave reports whether a message is about a token that this member has not heard of, and that others may use.
func (s *Slots) mayHave(m *wire.Message) bool {
	slot := int(m.Token.Slot)
	return s.share.IsShare() && slot >= len(s.machines) && slot < wire.MaxSlots && !s.machines[0].custody.leaving
}
