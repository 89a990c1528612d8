package call_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
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
