package call

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// share is how many tokens of a gate are in use, if that is a share of its members.
//
// S4 Share. A member counts the tokens in use by its own view: the share, rounded down, at least 1 and at most 64. The
// number changes when the view has not changed for a minute, and is 1 until then. A member calls only tokens in use.
// One too many goes to those that still call it, because they count more, and then stays where it rests: a token on
// call sends nothing there, and nobody runs under it. If the number rises again, it is there.
type share struct {
	percent int
	// inUse is the number. members is how many the view has, and at when the number follows them; Never if it has.
	inUse, members int
	at             policy.Time
}

// steady is how long a view must not have changed.
const steady = time.Minute

// begin sets the number of a gate that has not seen its members yet.
func (s *share) begin(cfg *Config) {
	*s = share{percent: cfg.SlotsShare, inUse: 1, at: policy.Never}
	if s.percent == 0 {
		s.inUse = cfg.slots()
	}
}

// see takes the size of a view that has changed.
func (s *share) see(now policy.Time, members int) {
	if s.percent > 0 {
		s.members, s.at = members, now.Add(steady)
	}
}

// settle follows a view that has not changed for long enough.
func (s *share) settle(now policy.Time) {
	if now >= s.at {
		s.inUse, s.at = min(max(s.members*s.percent/100, 1), wire.MaxSlots), policy.Never
	}
}

// grow makes the machines of more tokens, when they come into use, or when another member that counts more asks for
// one: they learn what the first one knows of this member and of the others.
func (s *Slots) grow(to int, now policy.Instant, out []policy.Effect) []policy.Effect {
	for len(s.machines) < to {
		first := &s.machines[0]
		cfg := first.cfg
		cfg.Slot = uint8(len(s.machines))
		m := New(cfg)
		m.stand.idle = true
		m.schedule.Join(&first.schedule)
		ids, seq := first.view.IDs, s.record().Seq
		s.machines = append(s.machines, *m)
		for _, ev := range [...]policy.Event{
			{Kind: policy.Started, State: policy.State{Seq: seq}}, {Kind: policy.PeersChanged, Peers: ids},
		} {
			if ev.Kind == policy.Started || len(ids) > 0 {
				s.effects = s.slot(len(s.machines)-1).Step(now, &ev, s.effects[:0])
				out = s.carry(len(s.machines)-1, out)
			}
		}
	}
	return out
}

// growFor makes the machines that an event needs.
func (s *Slots) growFor(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	s.share.settle(now.Time)
	to := s.share.inUse
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
	return s.share.percent > 0 && slot >= len(s.machines) && slot < wire.MaxSlots && !s.machines[0].custody.leaving
}
