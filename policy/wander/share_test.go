package wander_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// sharing starts a member that ran a moment ago, in a sweep with two tokens; the test is about the token of slot.
func sharing(t *testing.T, slot uint8, view ...int) *scenario {
	t.Helper()
	cfg := config()
	cfg.Walk, cfg.Slot, cfg.LastSlot = wander.Sweep, slot, 1
	s := begin(t, cfg, policy.State{
		HasRun: true, LastRun: policy.Time(time.Hour),
		Memo: soft.Memo{Token: born(1, 0).ID, Slot: slot}.Bytes(), Seq: 1,
	})
	s.fleet(view...)
	return s
}

// upTo returns the members 1 to n.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

func (s *scenario) regenerates() bool { return s.m.Detail(s.now.Time).RegenerateArmed }

// A token comes only to the members of its part: the others miss nothing if it does not come.
func TestOnlyMembersToWhichATokenComesRegenerateIt(t *testing.T) {
	for n := 3; n < 20; n++ {
		if first, second := sharing(t, 0, upTo(n)...),
			sharing(t, 1, upTo(n)...); first.regenerates() == second.regenerates() {
			t.Errorf("of %d: it makes the first token %v, and the second %v", n, first.regenerates(),
				second.regenerates())
		}
	}
}

// A member that is alone has all the tokens.
func TestAMemberAloneRegeneratesAllTokens(t *testing.T) {
	for slot := range uint8(2) {
		s := sharing(t, slot, upTo(5)...)
		s.fleet(3)
		if !s.regenerates() {
			t.Errorf("it does not make the token of slot %d", slot)
		}
	}
}

// viewOf returns a view of three in which the member has that slot's token.
func viewOf(t *testing.T, slot uint8) []int {
	t.Helper()
	for other := 4; other < 200; other++ {
		if view := []int{3, other, other + 1}; sharing(t, slot, view...).regenerates() {
			return view
		}
	}
	t.Fatalf("the token of slot %d never comes", slot)
	return nil
}

// If the token comes to a member only from now on, the time before was no silence.
func TestTheSilenceOfATokenBeginsWhenAMemberJoinsItsPart(t *testing.T) {
	s := sharing(t, 0, viewOf(t, 1)...)
	s.advance(10 * maxInterval)
	s.wantState("absent")
	s.fleet(viewOf(t, 0)...)
	if in := s.regenerateIn(); in < maxInterval {
		t.Errorf("it waits for %v", in)
	}
}

// While members disagree on how many tokens there are, a token comes to some of them only if they ask for it: the next
// holder passes it to them, once.
func TestAMemberThatAsksForATokenOfASharedSweepGetsIt(t *testing.T) {
	s := sharing(t, 0, upTo(9)...)
	question := wire.Message{Gate: 7, Kind: wander.KindInquiry, From: self, To: self, Exchange: 9}
	wander.SetLastSlot(&question.Load, 1)
	for asker := range 9 {
		if question.From = id(asker + 1); question.From == self {
			continue
		}
		s.taken(0)
		s.receive(question)
		s.lastSent(wander.KindSeen)
		s.advance(skip)
		if to := s.lastSent(handoff.KindToken).To; to != question.From {
			t.Errorf("it is offered to %v, and %v has asked", to, question.From)
		}
		s.advance(timeout)
		if to := s.lastSent(handoff.KindToken).To; to == question.From {
			t.Errorf("it is offered to %v again", to)
		}
		s.ack()
	}
}

// taken lets the token of a slot of two come to it.
func (s *scenario) taken(slot uint8) {
	s.t.Helper()
	token := born(1, 10)
	token.Slot = slot
	wander.SetLastSlot(&token.Load, 1)
	s.arrive(token, 1)
}

// A member that will be due within a lap waits with the token, and a lap is as long as the token's part.
func TestALapOfASharedSweepIsItsPart(t *testing.T) {
	const n = 10
	slot := uint8(0)
	if !sharing(t, slot, upTo(n)...).regenerates() {
		slot = 1
	}
	for _, tc := range []struct {
		early time.Duration
		waits bool
	}{{n / 2 * skip, true}, {n/2*skip + 1, false}} {
		s := sharing(t, slot, upTo(n)...)
		s.advance(minInterval - tc.early)
		s.taken(slot)
		s.advance(skip)
		if waits := s.m.Detail(s.now.Time).Phase == "resting"; waits != tc.waits {
			t.Errorf("due in %v, it waits: %v", tc.early, waits)
		}
	}
}

// A member that asks for a token and cannot be reached does not get it: the token would come back to the same holder.
func TestAnAvoidedMemberThatAsksDoesNotGetTheToken(t *testing.T) {
	s := sharing(t, 0, upTo(9)...)
	s.arrive(slotted(0, 1, 10), 1)
	s.advance(skip)
	first := s.offeredTo()
	s.receive(wire.Message{
		Gate: 7, Kind: wander.KindInquiry, From: first, To: self, Exchange: 9, Load: slotted(0, 1, 0).Load,
	})
	s.advance(timeout) // the offer fails
	s.wantState("offering")
	if second := s.offeredTo(); second == first {
		t.Errorf("%v is offered the token at once again", first)
	}
}

// offeredTo is the member to which the token is offered.
func (s *scenario) offeredTo() wire.MemberID {
	s.t.Helper()
	for _, m := range slices.Backward(s.sent) {
		if m.Kind == handoff.KindToken {
			return m.To
		}
	}
	s.t.Fatal("no token is offered")
	return wire.MemberID{}
}

// Members that disagree on the number of tokens compute different parts, and some would be in none. So each token then
// visits all members, all of them miss it if it does not come, and a lap has all of them.
func TestWhileMembersDisagreeOnTheNumberOfTokensEachVisitsAll(t *testing.T) {
	const n = 10
	for slot := range uint8(2) {
		s := sharing(t, slot, upTo(n)...)
		s.receive(s.offerOf(slot, 2))
		if !s.regenerates() {
			t.Errorf("it does not make the token of slot %d", slot)
		}
		s.advance(minInterval - n*skip)
		s.taken(slot)
		s.advance(skip)
		s.wantState("resting") // it is due within a lap of all
	}
}

// offerOf is an offer of a token of a slot, by a member of a gate with that last slot.
func (s *scenario) offerOf(slot, last uint8) wire.Message {
	token := born(1, 5)
	token.Slot = slot
	wander.SetLastSlot(&token.Load, last)
	return s.offerIn(token, 1)
}

// While a fleet is restarted with another number of slots, most members see no member of the other number for long. So
// a token carries how long ago a holder has, and that becomes older from member to member.
func TestATokenTellsHowLongAgoSlotsDiffered(t *testing.T) {
	slot := uint8(0)
	if sharing(t, slot, upTo(9)...).regenerates() {
		slot = 1
	}
	s := sharing(t, slot, upTo(9)...)
	told := born(1, 10)
	told.Slot = slot
	wander.SetLastSlot(&told.Load, 1)
	wander.SetMixed(&told.Load, 20*time.Second)
	s.arrive(told, 1)
	s.advance(op)
	load := s.lastSent(handoff.KindToken).Load
	if ago, ok := wander.MixedOf(&load); !ok || ago < 20*time.Second+skip || ago > 20*time.Second+2*op {
		t.Errorf("it passes on %v, %v", ago, ok)
	}
	s.ack()
	if !s.regenerates() {
		t.Error("it does not take part in a lap of all members")
	}
	s.fleet(upTo(10)...)
	s.fleet(upTo(9)...)
	if !s.regenerates() {
		t.Error("it forgets that when its view changes")
	}
	s.advance(maxInterval - 20*time.Second)
	s.fleet(upTo(9)...)
	if s.regenerates() {
		t.Error("it remembers that for longer than max_interval")
	}
}

// A holder forgets after max_interval that slots differed, without a change of its view: then it passes the token on
// without that, and the token visits its part only.
func TestAHolderForgetsThatSlotsDiffered(t *testing.T) {
	slot := uint8(0)
	if sharing(t, slot, upTo(9)...).regenerates() {
		slot = 1
	}
	for passes, tells := range map[time.Duration]bool{maxInterval: true, maxInterval + 1: false} {
		s := sharing(t, slot, upTo(9)...)
		s.receive(s.offerOf(slot, 2))
		differed := s.now.Time
		s.advance(passes - minInterval)
		s.taken(slot) // it is due
		s.advance(differed.Add(passes).Sub(s.now.Time))
		s.finish()
		load := s.lastSent(handoff.KindToken).Load
		if _, ok := wander.MixedOf(&load); ok != tells {
			t.Errorf("%v after it saw a difference, it tells of it: %v", passes, ok)
		}
		s.ack()
		if s.regenerates() != tells {
			t.Errorf("%v after it saw a difference, it waits for the token: %v", passes, !tells)
		}
	}
}
