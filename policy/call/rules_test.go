package call_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// R7: "A member that waits when the token arrives runs, whoever else waits": two members that know an older wait of
// each other would pass it for ever.
func TestAMemberThatWaitsRunsWhenTheTokenArrives(t *testing.T) {
	f := withToken(t, 6)
	home := f.home()
	older := f.caller()
	token := f.members[2].Status(f.now).Token
	f.down[2] = true
	f.step(home, policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: call.KindCall, From: id(older), To: id(home), Exchange: 77, Nonce: wire.Nonce(time.Minute),
	}})
	f.step(home, policy.Event{Kind: policy.Wanted})
	f.sent = nil
	offer := wire.Message{Gate: 7, Kind: handoff.KindToken, From: id(2), To: id(home), Exchange: 99, Token: token}
	f.step(home, policy.Event{Kind: policy.Received, Msg: offer})
	at := slices.IndexFunc(f.sent, func(m wire.Message) bool { return m.Kind == handoff.KindAck })
	if at < 0 {
		t.Fatalf("it does not accept the token: %+v", f.sent)
	}
	ack := f.sent[at]
	f.step(home, policy.Event{Kind: policy.Received, Msg: handoff.Reply(&ack, handoff.KindCommit, ack.Nonce)})
	f.sent = nil
	f.advance(skip / 4)
	passes := slices.ContainsFunc(f.sent, func(m wire.Message) bool { return m.Kind == handoff.KindToken })
	if !slices.Equal(f.runs, []int{home}) || passes {
		t.Errorf("these have run: %v, want the one that waits, %d; that the token goes on is %v", f.runs, home, passes)
	}
}

// R9: if all Commits are lost, the sender revives the token, before the homes suspect anybody.
func TestATokenThatIsLostOnItsWayIsRevivedByItsSender(t *testing.T) {
	f := withToken(t, 6)
	caller, lost := f.caller(), wire.Exchange(0)
	f.lost = func(m *wire.Message) bool {
		if m.Kind == handoff.KindCommit && lost == 0 {
			lost = m.Exchange
		}
		return m.Kind == handoff.KindCommit && m.Exchange == lost
	}
	f.step(caller, policy.Event{Kind: policy.Wanted})
	f.advance(13 * skip / 10)
	if !slices.Equal(f.runs, []int{caller}) || !slices.Contains(f.notes, call.NoteRevived) {
		t.Errorf("after 1.3 skips these have run: %v", f.runs)
	}
}

// R10: a guardian that does not hear the holder asks the others, which do.
func TestAGuardianAsksBeforeItRevives(t *testing.T) {
	f := withToken(t, 6)
	home, runner := f.home(), f.caller()
	f.step(runner, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.lost = func(m *wire.Message) bool { return m.From == id(runner) && m.To == id(home) }
	waiter := slices.IndexFunc(f.members, func(m policy.Machine) bool {
		return m != f.members[home] && m != f.members[runner] && m != f.members[2]
	})
	f.step(waiter, policy.Event{Kind: policy.Wanted})
	f.advance(20 * skip)
	if !slices.Contains(f.notes, guardian.NoteSuspected) || slices.Contains(f.notes, call.NoteRevived) {
		t.Errorf("it suspects the holder: %v; and revives its token: %v",
			slices.Contains(f.notes, guardian.NoteSuspected), slices.Contains(f.notes, call.NoteRevived))
	}
}

// R15: a token that was on its way when the question began is not lost.
func TestAMemberThatHadTheTokenLatelyDoesNotDenyIt(t *testing.T) {
	f := withToken(t, 6)
	home, caller := f.home(), 0
	for caller == 2 || slices.Contains(f.homes(), caller) {
		caller++
	}
	f.run(caller)
	// The token leaves the caller, which is not even a guardian afterwards.
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(skip / 4)
	f.sent = nil
	f.step(caller, policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: call.KindSeek, From: id(home), To: id(caller), Exchange: 99, Nonce: 1,
	}})
	if n := len(f.sent); n != 1 || f.sent[0].Kind != call.KindWhere {
		t.Errorf("it answers %+v", f.sent)
	}
}

// R10: a guardian that waits is queued at another home, which may tell nobody.
func TestAGuardianThatWaitsItselfSuspectsTheHolder(t *testing.T) {
	f := withToken(t, 6)
	first, second := f.home(), -1
	for _, i := range f.homes() {
		if i != first && i != 2 {
			second = i
		}
	}
	if second < 0 {
		t.Fatal("there is no other home")
	}
	f.down[2] = true
	f.lost = func(m *wire.Message) bool { return m.From == id(first) && m.Kind != call.KindQueued }
	f.step(second, policy.Event{Kind: policy.Wanted})
	f.advance(4 * skip)
	if !slices.Equal(f.runs, []int{second}) {
		t.Errorf("after four skips these have run: %v", f.runs)
	}
}

// R4: the first home runs, and one member has called it only. If its host dies, the next home suspects it, and serves
// that member. If the caller has gone, the next home knows that, too.
func TestTheQueueOfAFirstHomeThatRunsOutlivesIt(t *testing.T) {
	for name, goes := range map[string]bool{"the caller waits": false, "the caller has gone": true} {
		t.Run(name, func(t *testing.T) {
			f := withToken(t, 6)
			home, homes := f.home(), []int{2}
			for _, fact := range f.members[home].Facts(f.now, nil) {
				if fact.Key == policy.KeyHome {
					homes = append(homes, int(fact.Member[0])-1)
				}
			}
			caller := slices.IndexFunc([]int{0, 1, 2, 3, 4, 5}, func(i int) bool { return !slices.Contains(homes, i) })
			f.step(home, policy.Event{Kind: policy.Wanted})
			f.advance(skip / 2)
			f.step(caller, policy.Event{Kind: policy.Wanted})
			f.advance(skip / 2)
			want := []int{home, caller}
			if goes {
				f.step(caller, policy.Event{Kind: policy.Unwanted})
				f.advance(skip / 2)
				want = want[:1]
			}
			f.down[home], f.notes = true, nil
			f.advance(18 * skip / 10)
			if !slices.Equal(f.runs, want) || goes && slices.Contains(f.notes, guardian.NoteSuspected) {
				t.Errorf("these have run: %v, want %v; notes %v", f.runs, want, f.notes)
			}
		})
	}
}

// A home that leaves tells another one of those that wait, also of a single one: it need not call again.
func TestALeavingHomePassesItsQueueOn(t *testing.T) {
	f := withToken(t, 6)
	homes, runner := f.homes(), f.caller()
	f.step(runner, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	waiter := slices.IndexFunc(f.members, func(m policy.Machine) bool {
		return !slices.Contains(append(homes, 2, runner), slices.Index(f.members, m))
	})
	f.step(waiter, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.sent = nil
	f.step(homes[0], policy.Event{Kind: policy.Leave})
	if !slices.ContainsFunc(f.sent, func(m wire.Message) bool {
		return m.Kind == call.KindNext && m.To == id(homes[1]) && len(call.Waits(&m)) == 1
	}) {
		t.Errorf("it tells nobody of member %d: %+v", waiter, f.sent)
	}
}
