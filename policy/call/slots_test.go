package call_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// withTokens is a gate with that number of tokens, which rest at the first members.
func withTokens(t *testing.T, n, tokens int) *fleet {
	f := newGate(t, n, &call.Settings{Skip: skip, Backups: 2, Slots: tokens})
	for i := range tokens {
		f.step(i, policy.Event{Kind: policy.Wanted})
	}
	f.advance(10 * skip)
	if used := slices.Compact(slices.Sorted(slices.Values(f.slots))); len(used) != tokens {
		t.Fatalf("these slots are used: %v", f.slots)
	}
	for i := range tokens {
		f.step(i, policy.Event{Kind: policy.Finished})
	}
	f.advance(10 * skip)
	f.sent, f.runs, f.slots, f.notes = nil, nil, nil, nil
	return f
}

// comings counts the offers of tokens to a member.
func (f *fleet) comings(to int) (n int) {
	for i := range f.sent {
		if f.sent[i].Kind == handoff.KindToken && f.sent[i].To == id(to) {
			n++
		}
	}
	return n
}

func TestAsManyMembersRunAsThereAreTokens(t *testing.T) {
	f := withTokens(t, 8, 3)
	for _, i := range []int{3, 4, 5, 6} {
		f.step(i, policy.Event{Kind: policy.Wanted})
	}
	f.advance(20 * skip)
	if slices.Sort(f.slots); !slices.Equal(f.slots, []uint8{0, 1, 2}) {
		t.Errorf("these run: %v, in the slots %v", f.runs, f.slots)
	}
}

func TestTokensAtRestAreSilent(t *testing.T) {
	f := withTokens(t, 8, 3)
	f.advance(24 * time.Hour)
	if len(f.sent) > 0 {
		t.Errorf("%d datagrams are sent at rest, the first is %+v", len(f.sent), f.sent[0])
	}
}

// S2: a token that rests here is used where it is, also if this member did not run under it before.
func TestATokenThatRestsHereIsCalledFirst(t *testing.T) {
	f := withTokens(t, 8, 3)
	for i := range 3 {
		f.step(i, policy.Event{Kind: policy.Leave})
		f.advance(5 * skip)
	}
	f.sent = nil
	for i, m := range f.members {
		if m.Status(f.now).Holding {
			f.step(i, policy.Event{Kind: policy.Wanted})
			if f.advance(4 * delay); f.comings(i) > 0 || !slices.Contains(f.runs, i) {
				t.Errorf("member %d holds a token; these run: %v", i, f.runs)
			}
		}
	}
	if len(f.runs) < 2 {
		t.Errorf("these run: %v", f.runs)
	}
}

// S3: another token is called after a quarter of a patience.
func TestABusyTokenDelaysACallForAQuarterOfAPatience(t *testing.T) {
	f := withTokens(t, 8, 2)
	f.step(0, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.step(4, policy.Event{Kind: policy.Wanted}) // Slot 0 is first, by its place among the members.
	f.advance(skip/4 - delay)
	if len(f.runs) > 1 {
		t.Fatalf("at once, these run: %v", f.runs)
	}
	if f.advance(8 * delay); !slices.Equal(f.slots, []uint8{0, 1}) {
		t.Errorf("after a quarter of a patience these run: %v, in the slots %v", f.runs, f.slots)
	}
}

// S1: the wait stands in both queues, and one token serves it. Its home and its holder forget it in the other.
func TestAWaitIsServedOnce(t *testing.T) {
	for first := range 2 {
		f := withTokens(t, 8, 2)
		for i := range 2 {
			f.step(i, policy.Event{Kind: policy.Wanted})
		}
		f.advance(skip)
		f.step(5, policy.Event{Kind: policy.Wanted})
		f.advance(3 * skip)
		f.step(first, policy.Event{Kind: policy.Finished})
		f.advance(skip / 2)
		if !slices.Equal(f.runs, []int{0, 1, 5}) {
			t.Fatalf("these run: %v", f.runs)
		}
		f.step(1-first, policy.Event{Kind: policy.Finished})
		f.advance(60 * skip)
		if n := f.comings(5); n != 1 {
			t.Errorf("%d tokens come to the waiter", n)
		}
	}
}

// S1 is the same for a waiter that is a home itself.
func TestAHomeIsServedOnce(t *testing.T) {
	for waiter := 2; waiter < 8; waiter++ {
		f := withTokens(t, 8, 2)
		for i := range 2 {
			f.step(i, policy.Event{Kind: policy.Wanted})
		}
		f.advance(skip)
		f.step(waiter, policy.Event{Kind: policy.Wanted})
		f.advance(3 * skip)
		f.step(0, policy.Event{Kind: policy.Finished})
		f.advance(skip / 2)
		f.step(1, policy.Event{Kind: policy.Finished})
		f.advance(60 * skip)
		if n := f.comings(waiter); n != 1 {
			t.Errorf("%d tokens come to member %d", n, waiter)
		}
	}
}

func TestAMemberRunsOnceAtATime(t *testing.T) {
	f := withTokens(t, 4, 2)
	for i := 1; i < 4; i++ { // Member 0 gets both tokens.
		f.step(i, policy.Event{Kind: policy.Leave})
		f.advance(2 * skip)
		f.down[i] = true
	}
	for i := range 2 {
		if !f.members[0].(policy.Slotted).SlotStatus(i, f.now).Holding {
			t.Fatalf("it does not hold both tokens: %v", f.members[0])
		}
	}
	f.step(0, policy.Event{Kind: policy.PeersChanged, Peers: []wire.MemberID{id(0)}})
	f.step(0, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.step(0, policy.Event{Kind: policy.Wanted})
	f.advance(60 * skip)
	if !slices.Equal(f.runs, []int{0}) {
		t.Fatalf("during its run these run: %v", f.runs)
	}
	f.step(0, policy.Event{Kind: policy.Finished})
	if f.advance(skip); !slices.Equal(f.runs, []int{0, 0}) {
		t.Errorf("after its run these have run: %v", f.runs)
	}
}

// A member with fewer slots drops messages about the others, and so does one with one token.
func TestAMessageForASlotThatTheGateLacksChangesNothing(t *testing.T) {
	for _, slots := range []int{1, 2} {
		f := newGate(t, 6, &call.Settings{Skip: skip, Backups: 2, Slots: slots})
		token := wire.Ref{ID: wire.TokenID{Birth: 5, Generator: id(3), Random: 7}, Seq: 8, Slot: 2}
		for _, kind := range []wire.Kind{call.KindCall, call.KindSeek, call.KindNext, handoff.KindToken} {
			msg := wire.Message{Gate: 7, Kind: kind, From: id(3), To: id(1), Exchange: 99, Nonce: 1, Token: token}
			if f.members[1].Expects(&msg) {
				t.Errorf("a member with %d slots expects kind %v for slot 2", slots, kind)
			}
			f.sent = nil
			if f.step(1, policy.Event{Kind: policy.Received, Msg: msg}); len(f.sent) > 0 {
				t.Errorf("a member with %d slots answers %+v", slots, f.sent)
			}
		}
	}
}

func TestAnOperatorRenewsTheTokenOfOneSlot(t *testing.T) {
	f := withTokens(t, 8, 2)
	m := f.members[7].(policy.Renewable)
	if m.Knows(2, f.now) == "" || f.members[0].(policy.Renewable).Knows(0, f.now) == "" || m.Knows(1, f.now) != "" {
		t.Fatal("a member that holds or lacks a token has it renewed, or one that knows of none does not")
	}
	f.step(7, policy.Event{Kind: policy.Renew, Slot: 1})
	s := f.members[7].(policy.Slotted)
	if s.SlotStatus(0, f.now).Holding || !s.SlotStatus(1, f.now).Holding || s.SlotStatus(1, f.now).Token.Slot != 1 {
		t.Errorf("slot 0 is %+v, and slot 1 %+v", s.SlotStatus(0, f.now), s.SlotStatus(1, f.now))
	}
}

func TestTheNumberOfSlotsCannotChange(t *testing.T) {
	for _, slots := range []int{1, 3} {
		f := newGate(t, 2, &call.Settings{Skip: skip, Backups: 2, Slots: slots})
		tune := f.members[0].(policy.Tunable).Tune
		as := call.Settings{Skip: skip, Slots: slots, OnLost: soft.Stop}
		if tune(call.Settings{Skip: skip, Slots: 2}) || !tune(as) {
			t.Errorf("a machine with %d slots is tuned to 2, or not to as many", slots)
		}
	}
}

func TestALeavingMemberPassesAllTokensOn(t *testing.T) {
	f := withTokens(t, 8, 2)
	f.run(0)
	f.step(1, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.step(0, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.step(0, policy.Event{Kind: policy.Leave})
	f.step(0, policy.Event{Kind: policy.Finished})
	f.notes = nil
	f.advance(20 * skip)
	count := 0
	for _, n := range f.notes {
		if n == call.NoteLeft {
			count++
		}
	}
	if !slices.Equal(f.left, []int{0}) || count != 1 || f.members[0].Status(f.now).Holding {
		t.Errorf("these have left: %v, which was told %d times", f.left, count)
	}
	if _, ok := f.members[0].NextWake(); ok {
		t.Error("a member that has left wakes")
	}
}

// The record of a run names its slot. After a restart with fewer slots the run still counts.
func TestARunCountsForAllTokensAndAfterARestart(t *testing.T) {
	f := withTokens(t, 8, 3)
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	if len(f.slots) != 1 || soft.MemoOf(&f.saved[2].Memo).Slot != f.slots[0] || f.slots[0] == 0 || !f.saved[2].HasRun {
		t.Fatalf("a run in slot %v is saved as %+v", f.slots, f.saved[2])
	}
	for _, slots := range []int{1, 2, 3} {
		f.settings = &call.Settings{Skip: skip, MinInterval: time.Hour, Backups: 2, Slots: slots}
		m := f.newMember(2)
		f.members[2] = m
		f.step(2, policy.Event{Kind: policy.Started, State: f.saved[2]})
		f.step(2, policy.Event{Kind: policy.Wanted})
		s := m.Status(f.now)
		if due := f.saved[2].LastRun.Add(time.Hour); !s.HasRun || s.LastRun != f.saved[2].LastRun || s.NextRun != due {
			t.Errorf("with %d slots its status is %+v", slots, s)
		}
	}
}

// A home of several tokens allocates nothing, as a home of one.
func TestAHomeOfSeveralTokensAllocatesNothing(t *testing.T) {
	f := withTokens(t, 8, 3)
	out := make([]policy.Effect, 0, 32)
	now := policy.Instant{Time: f.now, Wall: noon}
	ev := policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: call.KindCall, From: id(7), To: id(6), Nonce: 1, Exchange: 1 << 40,
	}}
	once := func() {
		for _, nonce := range []wire.Nonce{1, 0} {
			if ev.Msg.Nonce = nonce; nonce == 1 {
				ev.Msg.Exchange++
			}
			for slot := range uint8(3) {
				ev.Msg.Token.Slot = slot
				out = f.members[6].Step(now, &ev, out[:0])
			}
		}
	}
	once()
	if n := testing.AllocsPerRun(100, once); n > 0 {
		t.Errorf("it allocates %v times", n)
	}
}

// R1: the homes are chosen by a hash of gate, slot and member.
func TestEachTokenHasHomesOfItsOwn(t *testing.T) {
	f := withTokens(t, 64, 3)
	homes := map[wire.MemberID]bool{}
	for _, fact := range f.all(9, policy.KeyHome) {
		homes[fact.Member] = true
	}
	if len(homes) < 5 {
		t.Errorf("three tokens have %d homes", len(homes))
	}
}

// A token of several that has come in vain, because another one has served that wait, does not go back for it at once:
// homes that have not heard of that still tell of the wait, and two members would pass the token to and fro.
func TestATokenThatCameInVainDoesNotComeBackForThatWait(t *testing.T) {
	f := newGate(t, 6, &call.Settings{Skip: skip, Backups: 2, Slots: 2})
	f.run(2)
	slot := int(f.slots[len(f.slots)-1])
	status := func(i int) policy.Status { return f.members[i].(policy.Slotted).SlotStatus(slot, f.now) }
	at := func() int {
		return slices.IndexFunc(f.members, func(m policy.Machine) bool {
			return m.(policy.Slotted).SlotStatus(slot, f.now).Holding
		})
	}
	homes := f.homes()
	var others []int
	for i := range f.members {
		if i != 2 && !slices.Contains(homes, i) {
			others = append(others, i)
		}
	}
	told := func(holder, waiter int, wait uint32) {
		m := wire.Message{
			Gate: 7, Kind: call.KindNext, From: id(others[1]), To: id(holder), Exchange: wire.Exchange(wait),
			Token: status(holder).Token,
		}
		call.Tell(&m.Load, 0, id(waiter), skip, wait)
		f.step(holder, policy.Event{Kind: policy.Received, Msg: m})
		f.advance(skip / 64)
	}
	waiter := others[0]
	for _, tc := range []struct {
		waiter int
		wait   uint32
		want   int
	}{{waiter, 7, waiter}, {2, 8, 2}, {waiter, 7, 2}} {
		if told(at(), tc.waiter, tc.wait); at() != tc.want {
			t.Fatalf("its holder was told that %d waits, and the token is at %d, not at %d", tc.waiter, at(), tc.want)
		}
	}
	f.advance(2 * call.Patience(skip))
	if told(2, waiter, 7); at() != waiter {
		t.Errorf("a patience later it still waits, and the token is at %d", at())
	}
}
