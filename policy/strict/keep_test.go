package strict_test

import (
	"testing"

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
