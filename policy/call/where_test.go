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

// S1 "One wait": it is called off where another token has not served it. A Next that tells of it may come later, and is
// not sent after the token then.
func TestAWaitThatIsCalledOffIsNotSentAfterTheToken(t *testing.T) {
	for name, c := range map[string]struct {
		calledOff bool
		want      int
	}{"still waits": {false, 1}, "called off before": {true, 0}} {
		t.Run(name, func(t *testing.T) {
			f := withToken(t, 6)
			home, runner := f.home(), f.caller()
			f.step(runner, policy.Event{Kind: policy.Wanted})
			f.advance(skip)
			f.lost = func(*wire.Message) bool { return true }
			late := wire.Message{
				Gate: 7, Kind: call.KindNext, From: id(home), To: id(2), Exchange: 99,
				Token: f.members[runner].Status(f.now).Token,
			}
			const wait = 5
			call.Tell(&late.Load, 0, id(home), time.Minute, wait)
			tells := func(of wire.Message) (told int) {
				f.sent = nil
				f.step(2, policy.Event{Kind: policy.Received, Msg: of})
				for i := range f.sent {
					if m := &f.sent[i]; m.Kind == call.KindNext && m.To == id(runner) {
						told++
					}
				}
				return told
			}
			if c.calledOff {
				off := wire.Message{Gate: 7, Kind: call.KindCall, From: id(home), To: id(2), Exchange: wait}
				if once, again := tells(off), tells(off); once != 1 || again != 0 {
					t.Errorf("the holder is told %d times that it is over, and %d times again", once, again)
				}
			}
			if told := tells(late); told != c.want {
				t.Errorf("the holder is told of it %d times, want %d", told, c.want)
			}
		})
	}
}

// A home that has sent a wait after the token sends the word that it is over, too. Otherwise the holder gives its token
// to a member that another one of several tokens has served.
func TestAWaitThatAHomeHasSentAfterTheTokenIsCalledOffThereToo(t *testing.T) {
	f := withToken(t, 6)
	homes := f.homes()
	sender, former := homes[0], homes[1]
	f.run(former)
	runner := slices.IndexFunc(f.members, func(m policy.Machine) bool {
		return m != f.members[sender] && m != f.members[former]
	})
	f.step(runner, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.lost = func(*wire.Message) bool { return true }
	const wait = 5
	late := wire.Message{
		Gate: 7, Kind: call.KindNext, From: id(sender), To: id(former), Exchange: 99,
		Token: f.members[runner].Status(f.now).Token,
	}
	call.Tell(&late.Load, 0, id(sender), time.Minute, wait)
	f.step(former, policy.Event{Kind: policy.Received, Msg: late})
	f.sent = nil
	off := wire.Message{Gate: 7, Kind: call.KindCall, From: id(sender), To: id(former), Exchange: wait}
	for range 2 {
		f.step(former, policy.Event{Kind: policy.Received, Msg: off})
	}
	if len(f.sent) != 1 || f.sent[0].Kind != call.KindNext || f.sent[0].To != id(runner) {
		t.Errorf("%d sends %+v, and should tell %d once", former, f.sent, runner)
	}
}

// R4: "while the first home runs, it tells the next one of its oldest waiters". So it tells it of a wait that is over,
// too: the next home may be the next holder, and the token would go to that member in vain.
func TestANextHomeIsToldThatAWaitIsOver(t *testing.T) {
	f := withToken(t, 8)
	home := f.home()
	f.step(home, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	caller := (home + 5) % 8
	told := func() (to []wire.MemberID) {
		for i := range f.sent {
			if m := &f.sent[i]; m.Kind == call.KindNext && m.From == id(home) {
				to = append(to, m.To)
			}
		}
		f.sent = nil
		return to
	}
	told()
	f.step(caller, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	next := told()
	f.step(caller, policy.Event{Kind: policy.Unwanted})
	f.advance(skip / 4)
	if over := told(); len(next) == 0 || !slices.Equal(over, next[:1]) {
		t.Errorf("the home tells %v of the wait, and %v that it is over", next, over)
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

// A home that does not know where the token is hears of it by any heartbeat, if somebody waits there: nobody guards a
// token for nobody.
func TestAHomeWithWaitersHearsAnyHeartbeat(t *testing.T) {
	f := newFleet(t, 6)
	homes, caller := f.homes(), 0
	for slices.Contains(homes, caller) {
		caller++
	}
	home := homes[0]
	f.lost = func(m *wire.Message) bool { return m.Kind == call.KindNone } // So it makes no token.
	heartbeat := wire.Message{
		Gate: 7, Kind: guardian.KindHeartbeat, From: id(caller), To: id(home), Exchange: 99, Nonce: 1,
		Token: wire.Ref{ID: wire.TokenID{Birth: noon, Generator: id(caller), Random: 5}, Seq: 9},
	}
	for _, waits := range []bool{false, true} {
		if f.members[home].Expects(&heartbeat) != waits {
			t.Errorf("somebody waits there: %v, and the heartbeat is news: %v", waits, !waits)
		}
		f.step(caller, policy.Event{Kind: policy.Wanted})
		f.advance(skip / 8)
	}
}

// R4: "Repeated after P/8, 3P/8": a home tells a holder that does not answer three times.
func TestAHomeTellsASilentHolderThreeTimes(t *testing.T) {
	f := withToken(t, 8)
	home, caller := f.home(), f.caller()
	f.lost = func(m *wire.Message) bool { return m.Kind == call.KindNext }
	f.step(home, policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: call.KindCall, From: id(caller), To: id(home), Exchange: 5, Nonce: 1,
	}})
	first := f.now
	var after []time.Duration
	for range 8 {
		for i := range f.sent {
			if m := &f.sent[i]; m.Kind == call.KindNext && m.From == id(home) && m.To == id(f.holder()) {
				after = append(after, f.now.Sub(first))
			}
		}
		f.sent = nil
		f.advance(skip / 8)
	}
	if !slices.Equal(after, []time.Duration{0, skip / 8, 3 * skip / 8}) {
		t.Errorf("it tells the holder after %v", after)
	}
}

// A caller that gives up tells everybody who has queued it: also a holder that is no home.
func TestACallerThatGivesUpTellsWhoHasQueuedIt(t *testing.T) {
	f := withToken(t, 8)
	home, caller := f.home(), f.caller()
	other := (home + 1) % 8
	for other == caller || slices.Contains(f.homes(), other) {
		other = (other + 1) % 8
	}
	f.lost = func(*wire.Message) bool { return true }
	f.sent = nil
	f.step(caller, policy.Event{Kind: policy.Wanted})
	asks := f.sent[len(f.sent)-1]
	f.step(caller, policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: call.KindQueued, From: id(other), To: id(caller), Exchange: asks.Exchange, Nonce: 1,
		Token: f.members[2].Status(f.now).Token,
	}})
	f.sent = nil
	f.step(caller, policy.Event{Kind: policy.Unwanted})
	if !slices.ContainsFunc(f.sent, func(m wire.Message) bool {
		return m.Kind == call.KindCall && m.To == id(other) && m.Nonce == 0
	}) {
		t.Errorf("member %d has queued it, and hears nothing: %+v", other, f.sent)
	}
}
