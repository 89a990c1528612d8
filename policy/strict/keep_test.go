package strict_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/wire"
)

// Callers go away while their grants are being saved at the others: each grant is handed back, and then the token goes
// on with a number above those that the others have heard. Otherwise they would take the next holder's grant for an old
// one.
func TestATokenWhoseGrantsWereHandedBackGoesOnWithAHigherNumber(t *testing.T) {
	s := settings(t, 3)
	s.Moves, s.Request, s.Keep = strict.Ring, ring.Martin, s.Lease
	m := begin(s, 0)
	m.step(policy.Event{Kind: policy.Wanted})
	promise := m.passes(t, ballot.KindPromise)[0]
	m.answers(&promise, ballot.KindPromised, 0)
	var unkeeps []wire.Message
	for range 3 {
		m.step(policy.Event{Kind: policy.Wanted})
		renew := m.passes(t, ballot.KindRenew)
		m.answers(&renew[0], ballot.KindRenewed, 0)
		keeps := m.passes(t, ballot.KindRenew)[0]
		if !m.m.Ballot().Keeping() || m.did(policy.Run) {
			t.Fatalf("it does not ask for a grant that is kept: %v", m.m)
		}
		m.step(policy.Event{Kind: policy.Unwanted})
		unkeeps = m.passes(t, ballot.KindRenew)
		if unkeeps[0].Token.Seq <= keeps.Token.Seq {
			t.Fatalf("it hands %x back under %x", keeps.Token.Seq, unkeeps[0].Token.Seq)
		}
		for i := range unkeeps {
			m.answers(&unkeeps[i], ballot.KindRenewed, 0)
		}
	}
	request := wire.Message{Kind: ring.KindRequest}
	request.Load[6], request.Load[22] = 1, 1 // of member 1, its first
	m.hears(request)
	if offer := m.passes(t, handoff.KindToken)[0]; offer.Token.Seq < unkeeps[0].Token.Seq {
		t.Errorf("it offers the token with %x after it has handed %x back", offer.Token.Seq, unkeeps[0].Token.Seq)
	}
}

// A disk hangs while it records the start of the operation under a grant that is kept. Then the operation has to wait,
// and a caller would be next; but the record that is saved at last names the operation. A host that is back goes on
// with what its disk says, so nothing runs that the record does not name.
func TestWhatRunsUnderAKeptGrantIsWhatIsSaved(t *testing.T) {
	s := settings(t, 3)
	s.Moves, s.Request, s.Keep, s.MinInterval = strict.Ring, ring.Martin, s.Lease, time.Minute
	m := beginWith(s, 0, false)
	m.step(policy.Event{Kind: policy.Wanted})
	promise := m.passes(t, ballot.KindPromise)[0]
	var saved policy.State
	kept := false
	raw := func(ev policy.Event) {
		m.out = m.m.Step(m.now, &ev, m.out[:0])
		for i := 0; i < len(m.out); i++ {
			switch e := m.out[i]; {
			case e.Kind == policy.Save:
				saved, kept = e.State, kept || e.State.Kept.Is()
			case e.Kind == policy.Run && e.Demanded != saved.Kept.Demanded:
				t.Fatalf("it runs for callers: %v; its record says: %v", e.Demanded, saved.Kept.Demanded)
			case e.Kind == policy.Send && e.Msg.Kind == ballot.KindRenew && e.Msg.To == s.Roster.ID(1):
				renewed := m.answer(&e.Msg, ballot.KindRenewed, 0)
				m.out = m.m.Step(m.now, &policy.Event{Kind: policy.Received, Msg: renewed}, m.out)
			}
		}
	}
	raw(policy.Event{Kind: policy.Received, Msg: m.answer(&promise, ballot.KindPromised, 0)})
	for until := m.now.Time.Add(s.SaveWithin()); m.now.Time <= until; {
		at, ok := m.m.NextWake()
		if !ok {
			t.Fatal("it never wakes")
		}
		m.now.Time = max(m.now.Time, at)
		raw(policy.Event{Kind: policy.Woke})
	}
	if !kept {
		t.Fatalf("it asks for no grant that is kept: %v", m.m)
	}
	for range 20 {
		raw(policy.Event{Kind: policy.Saved})
		at, _ := m.m.NextWake()
		m.now.Time = max(m.now.Time, at)
		raw(policy.Event{Kind: policy.Woke})
	}
}
