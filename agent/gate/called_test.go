package gate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// What a machine says of a token that is called has its place in the status, with the names of the members.
func TestAStatusSaysWhatIsKnownOfATokenThatIsCalled(t *testing.T) {
	b := newBench(t, nil)
	now := b.gate.env.Clock.Now().Time
	at := func(ago time.Duration) (policy.Time, time.Time) {
		return now.Add(-ago), b.gate.env.Clock.At(now.Add(-ago))
	}
	home, other := wire.MemberID{1}, wire.MemberID{2, 2, 2, 2, 2}
	b.fleet.members = []Peer{{ID: other, Name: "other"}}
	early, earlyTime := at(time.Minute)
	late, lateTime := at(time.Second)
	b.machine.status = policy.Status{Token: wire.Ref{Seq: 7}, Holder: other, Since: policy.Never}
	b.machine.facts = []policy.Fact{
		{Key: policy.KeyHeard, At: late},
		{Key: policy.KeyHome, Member: home},
		{Key: policy.KeyHome, Member: other},
		{Key: policy.KeyHome, Member: wire.MemberID{3}, Slot: 1},
		{Key: policy.KeyWaiters, Count: 12, Text: "home"},
		{Key: policy.KeyWaiter, Member: other, At: early},
		{Key: policy.KeyWaiter, Member: wire.MemberID{9}, At: late, Text: "does not answer"},
		{Key: policy.KeyCalls, At: early},
		{Key: policy.KeyQueued, Member: other, At: late, Count: 3, For: time.Hour},
	}
	s := b.gate.Status(&Around{})
	want := &control.Called{
		Homes: []control.Guardian{{Member: home.String(), Name: "a"}, {Member: other.String(), Name: "other"}},
		Queue: &control.Queue{As: control.AsHome, Waiters: 12, Oldest: []control.Waiter{
			{Member: other.String(), Name: "other", Since: earlyTime},
			{Member: wire.MemberID{9}.String(), Name: wire.MemberID{9}.Short(), Since: lateTime, Silent: true},
		}},
		Since: earlyTime,
		Turn: &control.Turn{
			Member: other.String(), Name: "other", At: lateTime, Before: 3, Held: control.Duration(time.Hour),
		},
	}
	near := func(a, b time.Time) bool { return a.Sub(b).Abs() < 100*time.Millisecond } // it is read from two clocks
	if diff := cmp.Diff(want, s.Called, cmp.Comparer(near)); diff != "" {
		t.Error(diff)
	}
	if !near(s.Heard, lateTime) || !s.SilentSince.IsZero() {
		t.Errorf("it heard of the token at %v, and silence means nothing, but it says %v and %v", lateTime, s.Heard,
			s.SilentSince)
	}
	b.machine.facts, b.machine.status.Since = nil, early
	if s := b.gate.Status(&Around{}); s.Called != nil || !near(s.SilentSince, earlyTime) {
		t.Errorf("a token that goes round: %+v, silent since %v", s.Called, s.SilentSince)
	}
}

func TestMessagesAreCountedByTheirKinds(t *testing.T) {
	b := newBench(t, nil)
	peer := wire.MemberID{2}
	b.fleet.members = []Peer{{ID: peer, Name: "b"}}
	send := func(to wire.MemberID) policy.Effect {
		return policy.Effect{Kind: policy.Send, Msg: wire.Message{Kind: 64, To: to}}
	}
	b.does(send(peer), send(peer), send(wire.MemberID{8}))
	b.gate.Receive(&wire.Message{Kind: 65, From: peer})
	s := b.gate.Status(&Around{})
	// The third is for a member that is gone. The script names no kinds.
	name := func(k wire.Kind) string { return policy.Kinds{}.Of(k).Name }
	if diff := cmp.Diff(map[string]uint64{name(64): 2}, s.Sent); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]uint64{name(65): 1}, s.Received); diff != "" {
		t.Error(diff)
	}
}
