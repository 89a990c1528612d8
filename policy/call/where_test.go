package call_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// R2: a member that answers a Call by a Where does not queue the caller, whatever it says of itself: it leaves. Others
// that it names are called once each, even if one is both the home and the holder.
func TestACallerFollowsAWhereOnceAndNotBackToItsSender(t *testing.T) {
	f := withToken(t, 8)
	home := f.home()
	caller, asked, named := (home+1)%8, (home+2)%8, (home+3)%8
	follow := func(holder, first int) (calls []wire.MemberID) {
		f.step(caller, policy.Event{Kind: policy.Unwanted})
		f.lost = func(*wire.Message) bool { return true }
		f.step(caller, policy.Event{Kind: policy.Wanted})
		f.advance(skip / 2)
		last := f.sent[len(f.sent)-1]
		f.sent = nil
		answer := wire.Message{
			Gate: 7, Kind: call.KindWhere, From: id(asked), To: id(caller), Exchange: last.Exchange,
			Token: wire.Ref{ID: wire.TokenID{Birth: 5, Generator: id(asked), Random: 7}, Seq: 8},
		}
		a, b := id(holder), id(first)
		copy(answer.Load[:], a[:])
		copy(answer.Load[len(a):], b[:])
		f.step(caller, policy.Event{Kind: policy.Received, Msg: answer})
		for i := range f.sent {
			calls = append(calls, f.sent[i].To)
		}
		return calls
	}
	if calls := follow(asked, asked); len(calls) != 0 {
		t.Errorf("it calls the one again that has just answered: %d calls", len(calls))
	}
	if calls := follow(named, named); len(calls) != 1 || calls[0] != id(named) {
		t.Errorf("it calls the one that is home and holder %d times", len(calls))
	}
}

// R4: "of a Next with an older number only the sender's own wait counts", and "who has passed the token on sends that
// wait after it": the wait of a home whose Next comes too late.
func TestAHomeWhoseNextComesTooLateIsServed(t *testing.T) {
	for name, former := range map[string]bool{"to a former holder": true, "in a later visit": false} {
		t.Run(name, func(t *testing.T) {
			f := withToken(t, 6)
			home, runner := f.home(), f.caller()
			f.step(runner, policy.Event{Kind: policy.Wanted})
			f.advance(skip)
			f.lost = func(m *wire.Message) bool {
				return m.From == id(home) && (m.Kind == call.KindNext || m.Kind == call.KindCall)
			}
			f.step(home, policy.Event{Kind: policy.Wanted})
			to := runner
			if former {
				to = 2
			}
			late := wire.Message{
				Gate: 7, Kind: call.KindNext, From: id(home), To: id(to), Exchange: 99,
				Token: f.members[runner].Status(f.now).Token,
			}
			late.Token.Seq = 1
			call.Tell(&late.Load, 0, id(home), time.Minute, 5)
			f.step(to, policy.Event{Kind: policy.Received, Msg: late})
			f.advance(skip / 4)
			f.step(runner, policy.Event{Kind: policy.Finished})
			f.advance(skip / 4)
			if !slices.Equal(f.runs, []int{runner, home}) {
				t.Errorf("these have run: %v, want %v", f.runs, []int{runner, home})
			}
		})
	}
}

// R12: "a guardian never takes a lower number", and nor does a home: a heartbeat of an earlier visit is late.
func TestAHomeBelievesNoLowerNumber(t *testing.T) {
	f := withToken(t, 8)
	home, runner := f.home(), f.caller()
	f.step(runner, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	var callers []int
	for i := range f.members {
		if i != home && i != runner && i != 2 {
			callers = append(callers, i)
		}
	}
	f.step(callers[0], policy.Event{Kind: policy.Wanted})
	f.advance(skip / 4)
	late := wire.Message{
		Gate: 7, Kind: guardian.KindHeartbeat, From: id(2), To: id(home), Nonce: 99,
		Token: f.members[runner].Status(f.now).Token,
	}
	late.Token.Seq--
	f.step(home, policy.Event{Kind: policy.Received, Msg: late})
	f.sent = nil
	f.step(callers[1], policy.Event{Kind: policy.Wanted})
	f.advance(skip / 4)
	answered := false
	for i := range f.sent {
		m := &f.sent[i]
		if holder, _ := call.Places(m); m.Kind == call.KindQueued && m.From == id(home) {
			if answered = true; holder != id(runner) {
				t.Errorf("the home names %s, and %s holds the token", holder.Short(), id(runner).Short())
			}
		}
	}
	if !answered {
		t.Error("the home does not answer")
	}
}
