package call_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// withShare is a gate of which a tenth of the members may run at once.
func withShare(t *testing.T, n int) *fleet {
	return newGate(t, n, &call.Settings{Skip: skip, Backups: 2, SlotsShare: 10})
}

// seeFirst gives some members the view of the first n.
func (f *fleet) seeFirst(members, n int) {
	var all []wire.MemberID
	for i := range n {
		all = append(all, id(i))
	}
	for i := range members {
		f.step(i, policy.Event{Kind: policy.PeersChanged, Peers: all})
	}
}

// runAtOnce lets members call, and returns how many run at once; then all have ended.
func (f *fleet) runAtOnce(callers ...int) int {
	f.t.Helper()
	f.runs = nil
	for _, i := range callers {
		f.step(i, policy.Event{Kind: policy.Wanted})
	}
	f.advance(5 * skip)
	atOnce := len(f.runs)
	for done := 0; done < len(f.runs); done++ {
		f.step(f.runs[done], policy.Event{Kind: policy.Finished})
		f.advance(3 * skip)
	}
	if slices.Sort(f.runs); !slices.Equal(f.runs, callers) {
		f.t.Errorf("these call: %v, and these run: %v", callers, f.runs)
	}
	return atOnce
}

// S4: "The number changes when the view has not changed for a minute, and is 1 until then."
func TestTheNumberOfTokensFollowsAViewThatIsSteady(t *testing.T) {
	f := withShare(t, 31)
	if n := f.runAtOnce(3, 4, 5, 6); n != 1 {
		t.Errorf("at first, %d run at once", n)
	}
	f.advance(time.Minute)
	if n := f.runAtOnce(3, 4, 5, 6); n != 3 {
		t.Errorf("a tenth of 31 are %d", n)
	}
	for range 4 { // Members come and go all the time.
		f.advance(50 * time.Second)
		f.seeFirst(20, 20)
		f.seeFirst(31, 31)
	}
	f.seeFirst(20, 20)
	for i := 20; i < 31; i++ {
		f.down[i] = true
	}
	f.advance(30 * time.Second)
	if n := f.runAtOnce(3, 4, 5, 6); n != 3 {
		t.Errorf("half a minute after the view has changed, %d run at once", n)
	}
	f.advance(time.Minute)
	if n := f.runAtOnce(3, 4, 5, 6); n != 2 {
		t.Errorf("a tenth of 20 are %d", n)
	}
	f.seeFirst(9, 9)
	for i := 9; i < 20; i++ {
		f.down[i] = true
	}
	f.advance(2 * time.Minute)
	if n := f.runAtOnce(3, 4, 5, 6); n != 1 {
		t.Errorf("a tenth of 9 are %d", n)
	}
}

// "This member leaves, and makes nothing for a token that would come into use": not when its view has been steady for
// long enough meanwhile.
func TestALeavingMemberCountsAsBefore(t *testing.T) {
	f := withShare(t, 20)
	f.advance(30 * time.Second)
	f.step(3, policy.Event{Kind: policy.Wanted})
	f.advance(5 * skip)
	if !slices.Equal(f.runs, []int{3}) {
		t.Fatalf("%v run", f.runs)
	}
	f.step(3, policy.Event{Kind: policy.Leave})
	f.advance(time.Minute)
	f.step(3, policy.Event{Kind: policy.Finished})
	f.advance(5 * skip)
	if !slices.Equal(f.left, []int{3}) {
		t.Error("it does not leave")
	}
}

// A member that announces something else, as a gate on demand, brings no other view: that happens all the time.
func TestWordOfTheSameMembersDelaysNothing(t *testing.T) {
	f := withShare(t, 20)
	for range 6 {
		f.advance(15 * time.Second)
		f.seeFirst(20, 20)
	}
	if n := f.runAtOnce(3, 4, 5); n != 2 {
		t.Errorf("a tenth of 20 are %d", n)
	}
}

// S4: "a token on call sends nothing there": one that is in use no more costs nothing.
func TestATokenTooManyRestsInSilence(t *testing.T) {
	f := withShare(t, 30)
	f.advance(time.Minute)
	f.runAtOnce(3, 4, 5, 6)
	f.seeFirst(12, 12)
	for i := 12; i < 30; i++ {
		f.down[i] = true
	}
	f.advance(2 * time.Minute)
	f.runAtOnce(7)
	f.sent = nil
	f.advance(24 * time.Hour)
	if len(f.sent) > 0 {
		t.Errorf("%d datagrams are sent at rest, the first is %+v", len(f.sent), f.sent[0])
	}
}

// S4: "goes to those that still call it, because they count more": a member that has a larger view is served by members
// that count fewer tokens.
func TestMembersThatCountFewerTokensServeOneThatCountsMore(t *testing.T) {
	f := withShare(t, 20)
	f.seeFirst(19, 19)
	f.advance(time.Minute)
	f.step(3, policy.Event{Kind: policy.Wanted})
	f.advance(5 * skip)
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.step(19, policy.Event{Kind: policy.Wanted})
	f.advance(5 * skip)
	if !slices.Equal(f.runs, []int{3, 19}) {
		t.Errorf("these run: %v", f.runs)
	}
	f.step(3, policy.Event{Kind: policy.Finished})
	f.step(19, policy.Event{Kind: policy.Finished})
	f.advance(5 * skip)
	if !slices.Contains(f.runs, 4) {
		t.Errorf("member 4 waits for a token that it does not count: %v", f.runs)
	}
	if n := f.members[4].(policy.Slotted).Slots(); n != 1 {
		t.Errorf("member 4 counts %d", n)
	}
}

// What came into use later knows of a pause that an operator has begun before.
func TestATokenThatComesIntoUseIsPausedWithTheOthers(t *testing.T) {
	f := withShare(t, 20)
	for i := range f.members {
		f.step(i, policy.Event{Kind: policy.Directed, Paused: true})
	}
	f.advance(2 * time.Minute)
	f.step(3, policy.Event{Kind: policy.Wanted})
	f.step(4, policy.Event{Kind: policy.Wanted})
	if f.advance(10 * skip); len(f.runs) > 0 {
		t.Errorf("these run in a pause: %v", f.runs)
	}
}

func TestAShareCannotChange(t *testing.T) {
	f := withShare(t, 2)
	tune := f.members[0].(policy.Tunable).Tune
	if tune(call.Settings{Skip: skip, SlotsShare: 11}) || tune(call.Settings{Skip: skip, Slots: wire.MaxSlots}) ||
		!tune(call.Settings{Skip: skip, SlotsShare: 10, MinInterval: time.Hour}) {
		t.Error("a gate of which a tenth runs at once is tuned to another number, or not to other constants")
	}
}

// Messages about tokens that nobody can have change nothing.
func TestAShareHasNoMoreTokensThanAGateMayHave(t *testing.T) {
	f := withShare(t, 6)
	m := wire.Message{
		Gate: 7, Kind: call.KindSeek, From: id(3), To: id(1), Exchange: 99, Nonce: 1,
		Token: wire.Ref{Slot: wire.MaxSlots},
	}
	if f.members[1].Expects(&m) {
		t.Error("it expects a message about a slot too many")
	}
	if m.Token.Slot--; !f.members[1].Expects(&m) {
		t.Error("it does not expect a message about the last slot")
	}
	f.step(1, policy.Event{Kind: policy.Received, Msg: m})
	f.step(1, policy.Event{Kind: policy.Leave})
	f.advance(skip)
	if !slices.Contains(f.left, 1) {
		t.Error("with the machines of all slots it does not leave")
	}
}

// A member that waits no longer waits for a token that is in use no more: it would run beside the one that is.
func TestAWaitLeavesATokenThatIsInUseNoMore(t *testing.T) {
	f := withShare(t, 20)
	f.advance(time.Minute)
	for _, i := range []int{3, 4, 5} {
		f.step(i, policy.Event{Kind: policy.Wanted})
		f.advance(skip)
	}
	for i := 9; i < 20; i++ {
		f.down[i] = true
	}
	f.see()
	f.advance(2 * time.Minute)
	over := f.runs[slices.Index(f.slots, 1)]
	f.step(over, policy.Event{Kind: policy.Finished})
	if f.advance(10 * skip); len(f.runs) != 2 {
		t.Errorf("one token is in use, and these run: %v, in the slots %v", f.runs, f.slots)
	}
	f.step(7-over, policy.Event{Kind: policy.Finished})
	if f.advance(10 * skip); !slices.Contains(f.runs, 5) {
		t.Errorf("these have run: %v", f.runs)
	}
}

// An operator has tokens renewed that are in use, and no others.
func TestOnlyTokensInUseAreRenewed(t *testing.T) {
	f := withShare(t, 20)
	f.advance(time.Minute)
	if why := f.members[7].(policy.Renewable).Knows(1, f.now); why != "" {
		t.Error(why)
	}
	f.seeFirst(9, 9)
	f.advance(2 * time.Minute)
	if why := f.members[7].(policy.Renewable).Knows(1, f.now); why == "" {
		t.Error("it has a token renewed that is in use no more")
	}
	if f.step(7, policy.Event{Kind: policy.Renew, Slot: 1}); f.holder() >= 0 {
		t.Error("it makes a token that is in use no more")
	}
}

// What comes into use later knows how often runs have failed here.
func TestATokenThatComesIntoUseKnowsHowOftenRunsHaveFailed(t *testing.T) {
	settings := call.Settings{
		Skip: skip, Backups: 2, SlotsShare: 10, MinInterval: time.Hour, RetryAfter: 10 * time.Minute,
	}
	m := settings.Machine(policy.Env{Gate: 7, Self: id(0), Entropy: rand.NewPCG(1, 9)})
	now, failures := policy.Instant{Time: policy.Time(time.Hour), Wall: noon}, -1
	step := func(ev policy.Event) (runs bool) {
		for _, e := range m.Step(now, &ev, nil) {
			if e.Kind == policy.Save {
				failures = int(soft.MemoOf(&e.State.Memo).Failures)
			}
			runs = runs || e.Kind == policy.Run
		}
		return runs
	}
	run := func() {
		for range 1000 {
			if step(policy.Event{Kind: policy.Woke}) || step(policy.Event{Kind: policy.Saved}) {
				return
			}
			at, _ := m.NextWake()
			now.Wall, now.Time = now.Wall+int64(max(at, now.Time+1).Sub(now.Time)), max(at, now.Time+1)
		}
		t.Fatal("it does not run")
	}
	step(policy.Event{Kind: policy.Started})
	step(policy.Event{Kind: policy.PeersChanged, Peers: []wire.MemberID{id(0)}})
	run()
	step(policy.Event{Kind: policy.Finished, Outcome: policy.Failed})
	var all []wire.MemberID
	for i := range 20 {
		all = append(all, id(i))
	}
	step(policy.Event{Kind: policy.PeersChanged, Peers: all})
	now.Time, now.Wall = now.Time.Add(time.Minute), now.Wall+int64(time.Minute)
	step(policy.Event{Kind: policy.Woke})
	if n := m.(policy.Slotted).Slots(); n != 2 {
		t.Fatalf("it counts %d tokens", n)
	}
	step(policy.Event{Kind: policy.PeersChanged, Peers: all[:1]})
	if run(); failures != 1 {
		t.Errorf("when it runs again, %d runs in a row have failed, want 1", failures)
	}
}

// The status says for which share of the members there are tokens, however small it is.
func TestTheStatusTellsTheShare(t *testing.T) {
	for share, want := range map[int]int{0: 0, 1: 1, 100: 1} {
		f := newGate(t, 1, &call.Settings{Skip: skip, Backups: 2, SlotsShare: share})
		got := f.all(0, policy.KeySlotsShare)
		if len(got) != want || want > 0 && got[0].Count != share {
			t.Errorf("a token for %d of a hundred members: %+v", share, got)
		}
	}
}
