package call_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/wire"
)

// all returns the facts of a member with a key.
func (f *fleet) all(i int, key policy.Key) (list []policy.Fact) {
	for _, fact := range f.members[i].Facts(f.now, nil) {
		if fact.Key == key {
			list = append(list, fact)
		}
	}
	return list
}

// homes are the homes as member 0 sees them.
func (f *fleet) homes() (list []int) {
	for _, fact := range f.all(0, policy.KeyHome) {
		list = append(list, int(fact.Member[0])-1)
	}
	return list
}

func TestAtRestEachMemberSaysWhatItKnows(t *testing.T) {
	f := withToken(t, 6)
	first := f.home()
	f.advance(24 * time.Hour)
	homes := f.homes()
	if len(homes) != 2 || homes[0] != first {
		t.Fatalf("the homes are %v, and %d is called first", homes, first)
	}
	for i := range f.members {
		s := f.members[i].Status(f.now)
		waiters, heard := f.all(i, policy.KeyWaiters), f.all(i, policy.KeyHeard)
		keeps := slices.Contains(homes, i) || i == 2
		if keeps != (len(waiters) == 1) || keeps && waiters[0].Count != 0 {
			t.Errorf("member %d keeps a queue: %v; it says %+v", i, keeps, waiters)
		}
		if i == 2 {
			if waiters[0].Text != "holder" || len(heard) > 0 || s.Holder != id(2) {
				t.Errorf("the holder says %+v, %+v, %+v", waiters, heard, s)
			}
			continue
		}
		if keeps && (waiters[0].Text != "home" || s.Holder != id(2)) {
			t.Errorf("home %d says %+v, and that %v is the holder", i, waiters, s.Holder)
		}
		if !s.Holder.IsZero() && (s.Token.Seq == 0 || len(heard) != 1 || f.now.Sub(heard[0].At) < 23*time.Hour) {
			t.Errorf("member %d knows a holder, and says %+v, %+v", i, s.Token, heard)
		}
		if s.Since != policy.Never {
			t.Errorf("nobody waits at member %d, which has been without the token since %d", i, s.Since)
		}
		if got := f.all(i, policy.KeyCalls); len(got) > 0 {
			t.Errorf("member %d does not wait, and says %+v", i, got)
		}
	}
}

func TestAWaiterSaysHowManyAreBeforeIt(t *testing.T) {
	f := withToken(t, 16)
	homes := f.homes()
	began := f.now
	var waiters []int
	for i := range f.members {
		if i != 2 && !slices.Contains(homes, i) {
			waiters = append(waiters, i)
			f.step(i, policy.Event{Kind: policy.Wanted})
			f.advance(skip / 10)
		}
	}
	runner, rest := waiters[0], waiters[1:]
	f.advance(20 * skip)
	for before, i := range rest {
		queued, calls := f.all(i, policy.KeyQueued), f.all(i, policy.KeyCalls)
		if len(queued) != 1 || queued[0].Count != before || queued[0].Member != id(homes[0]) {
			t.Errorf("member %d, before which %d wait, says %+v", i, before, queued)
			continue
		}
		// The home has heard of the run in the first tenth of a second.
		if ran := queued[0].At.Sub(began); queued[0].For > ran || queued[0].For < ran-skip/5 {
			t.Errorf("at %v the holder is said to have had the token for %v", ran, queued[0].For)
		}
		if want := began.Add(time.Duration(before+1) * skip / 10); len(calls) != 1 || calls[0].At != want {
			t.Errorf("member %d has waited since %v, and says %+v", i, want, calls)
		}
		// A home has queued it, and knows the holder: all is well.
		if s := f.members[i].Status(f.now); s.Holder != id(runner) || s.Since != policy.Never {
			t.Errorf("member %d waits, and says %+v", i, s)
		}
	}
	list := f.all(homes[0], policy.KeyWaiter)
	if len(list) != 9 {
		t.Errorf("a home lists %d waiters", len(list))
	}
	for n, w := range list {
		if w.Member != id(rest[n]) || w.Text != "" {
			t.Errorf("waiter %d is %d, and the home says %+v", n, rest[n], w)
		}
	}
	// The holder knows only those of which homes have told it.
	if told := f.all(runner, policy.KeyWaiter); len(told) == 0 || told[0].Member != id(rest[0]) {
		t.Errorf("the holder says that these wait: %+v", told)
	}
	if n := f.all(homes[0], policy.KeyWaiters)[0].Count; n != len(rest) {
		t.Errorf("%d wait, and the home counts %d", len(rest), n)
	}
}

func TestAHomeThatWaitsIsInItsOwnQueue(t *testing.T) {
	f := withToken(t, 6)
	home, other := f.homes()[0], 0
	for other == 2 || slices.Contains(f.homes(), other) {
		other++
	}
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	for _, i := range []int{other, home} {
		f.step(i, policy.Event{Kind: policy.Wanted})
		f.advance(skip)
	}
	want := policy.Fact{Key: policy.KeyQueued, Member: id(home), At: f.now, Count: 1, For: 3 * skip}
	got := f.all(home, policy.KeyQueued)
	if len(got) == 1 {
		got[0].For = got[0].For.Round(skip / 10)
	}
	if !slices.Equal(got, []policy.Fact{want}) {
		t.Errorf("a home that waits says %+v", got)
	}
}

// Silence is a sign only if somebody waits, and is not answered.
func TestSilenceCountsFromTheCallThatIsNotAnswered(t *testing.T) {
	f := withToken(t, 6)
	homes, caller := f.homes(), 0
	for caller == 2 || slices.Contains(homes, caller) {
		caller++
	}
	f.advance(time.Hour)
	f.lost = func(*wire.Message) bool { return true }
	f.step(caller, policy.Event{Kind: policy.Wanted})
	called := f.now
	f.advance(time.Minute)
	if s := f.members[caller].Status(f.now); s.Since != called {
		t.Errorf("it has called since %d in vain, and says %+v", called, s)
	}
	f.step(caller, policy.Event{Kind: policy.Unwanted})
	if s := f.members[caller].Status(f.now); s.Since != policy.Never {
		t.Errorf("it waits no longer, and says %+v", s)
	}
}

// A home that knows no holder cannot say for how long that one has had the token.
func TestATurnIsBounded(t *testing.T) {
	wellFormed := call.Descriptor().WellFormed
	token := wire.Ref{ID: wire.TokenID{Birth: 5, Generator: wire.MemberID{6}, Random: 7}, Seq: 8}
	queued := func(token wire.Ref, at int, b ...byte) *wire.Message {
		m := wire.Message{
			Gate: 1, Kind: call.KindQueued, From: wire.MemberID{1}, To: wire.MemberID{2}, Exchange: 3, Nonce: 4,
			Token: token,
		}
		copy(m.Load[at:], b)
		return &m
	}
	for _, m := range []*wire.Message{queued(token, 34, 0x10, 0), queued(token, 36, 0xff, 0xff, 0xff, 0xff)} {
		if !wellFormed(m) {
			t.Errorf("not well-formed: %+v", m)
		}
	}
	for what, m := range map[string]*wire.Message{
		"4,097 that wait":               queued(token, 34, 0x10, 1),
		"a byte behind it":              queued(token, 40, 1),
		"a holder's time, and no token": queued(wire.Ref{}, 39, 1),
	} {
		if wellFormed(m) {
			t.Errorf("well-formed with %s", what)
		}
	}
}
