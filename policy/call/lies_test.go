package call_test

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/wire"
)

// R2: a home may lie, and tell the holder of nobody. If there is no other home, the caller asks members that are none
// where the token is, although it is queued.
func TestACallerWhoseOnlyHomeWithholdsItFindsTheHolder(t *testing.T) {
	f := newGate(t, 12, &call.Settings{Skip: skip, Backups: 1})
	f.run(2)
	f.sent, f.runs = nil, nil
	home, holder := f.home(), f.holder()
	caller := slices.IndexFunc(f.members, func(m policy.Machine) bool {
		return m != f.members[home] && m != f.members[holder]
	})
	f.lost = func(m *wire.Message) bool { return m.Kind == call.KindNext && m.From == id(home) }
	f.step(caller, policy.Event{Kind: policy.Wanted})
	f.advance(60 * skip)
	if !slices.Equal(f.runs, []int{caller}) {
		t.Errorf("after 60 skips these have run: %v", f.runs)
	}
}

// R5: a home forgets a waiter that "did not answer an offer". Only a holder offers, so nobody tells a holder of one.
func TestNobodyTellsTheHolderWhoDidNotAnswer(t *testing.T) {
	f := withToken(t, 6)
	home, runner := f.home(), f.caller()
	f.step(runner, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	waiter := slices.IndexFunc(f.members, func(m policy.Machine) bool {
		return m != f.members[home] && m != f.members[runner] && m != f.members[2]
	})
	f.sent = nil
	f.step(waiter, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	at := slices.IndexFunc(f.sent, func(m wire.Message) bool { return m.Kind == call.KindCall && m.From == id(waiter) })
	if at < 0 {
		t.Fatal("it does not call")
	}
	lie := wire.Message{
		Gate: 7, Kind: call.KindNext, From: id(home), To: id(runner), Exchange: 99, Nonce: 2,
		Token: f.members[runner].Status(f.now).Token,
	}
	call.Tell(&lie.Load, 0, id(waiter), skip, uint32(f.sent[at].Exchange))
	f.step(runner, policy.Event{Kind: policy.Received, Msg: lie})
	f.step(runner, policy.Event{Kind: policy.Finished})
	f.advance(skip / 4)
	if !slices.Equal(f.runs, []int{runner, waiter}) {
		t.Errorf("these have run: %v, want %v", f.runs, []int{runner, waiter})
	}
}

// R12: a member that lies may name a number of the token that is far ahead. What the holder says of itself counts for
// more: otherwise that lie would hide the token for as long as it lives.
func TestAHolderCorrectsALieAboutItsToken(t *testing.T) {
	f := withToken(t, 6)
	home, holder := f.home(), f.holder()
	truth := f.members[holder].Status(f.now).Token
	byzantine := slices.IndexFunc(f.members, func(m policy.Machine) bool {
		return m != f.members[home] && m != f.members[holder]
	})
	lie := wire.Message{
		Gate: 7, Kind: call.KindNext, From: id(byzantine), To: id(home), Exchange: 99, Nonce: 1, Token: truth,
	}
	lie.Token.Seq += 1000
	f.step(home, policy.Event{Kind: policy.Received, Msg: lie})
	if s := f.members[home].Status(f.now); !s.Holder.IsZero() {
		t.Fatalf("it does not believe the lie: %+v", s)
	}
	f.step(holder, policy.Event{Kind: policy.Wanted}) // It tells its guardians that it runs, and so the home.
	f.advance(skip / 2)
	if s := f.members[home].Status(f.now); s.Holder != id(holder) || s.Token.Seq >= lie.Token.Seq {
		t.Errorf("the home has heard of the holder, and says %+v", s)
	}
}
