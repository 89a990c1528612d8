package strict_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// refusesLength lets another member refuse a question because it allows half of the lease at most.
func (m *member) refusesLength(to *wire.Message) {
	no := m.answer(to, ballot.KindRefused, 0)
	binary.BigEndian.PutUint64(no.Load[40:], uint64(m.s.Lease/2))
	m.step(policy.Event{Kind: policy.Received, Msg: no})
}

// A member whose lease a majority refuses because of its length asks once in a lease, for callers and for its own
// operation, and says why it waits. It runs when the others have its lease.
func TestALeaseThatIsTooLongIsAskedForOnceInALease(t *testing.T) {
	for _, onDemand := range []bool{true, false} {
		s := settings(t, 3)
		m := beginWith(s, 0, onDemand)
		m.step(policy.Event{Kind: policy.Wanted})
		for range 3 {
			promises := m.passes(t, ballot.KindPromise)
			asked := m.now.Time
			for i := range promises {
				m.refusesLength(&promises[i])
			}
			if status := m.m.Status(m.now.Time); status.Bar != policy.BarNoMajority ||
				!strings.Contains(status.Why, "is longer than allowed by") {
				t.Errorf("it says %q", status.Why)
			}
			m.out = m.out[:0]
			if m.passes(t, ballot.KindPromise); m.now.Time.Sub(asked) < s.Lease {
				t.Fatalf("it asks again after %v", m.now.Time.Sub(asked))
			}
		}
		for _, promise := range m.passes(t, ballot.KindPromise) {
			m.answers(&promise, ballot.KindPromised, 0)
		}
		if m.m.Ballot().Token() == nil || !m.m.Ballot().HasMajority(m.now.Time) {
			t.Errorf("all allow its lease, and it has no token: %v", m.m)
		}
	}
}

// The holder of a token whose lease a majority refuses because of its length passes the token on.
func TestATokenWhoseLeaseIsTooLongGoesOn(t *testing.T) {
	s := settings(t, 3)
	m := begin(s, 0)
	m.step(policy.Event{Kind: policy.Wanted})
	for _, promise := range m.passes(t, ballot.KindPromise) {
		m.answers(&promise, ballot.KindPromised, 0)
	}
	m.step(policy.Event{Kind: policy.Finished})
	m.now.Time = m.m.Ballot().Until().Add(-s.KillAfter)
	m.step(policy.Event{Kind: policy.Wanted})
	renewals := m.sent(ballot.KindRenew)
	if len(renewals) != 2 || !strings.HasPrefix(m.m.String(), "entered") {
		t.Fatalf("it does not wait for its lease: %v", m.m)
	}
	for i := range renewals {
		m.refusesLength(&renewals[i])
	}
	if strings.HasPrefix(m.m.String(), "entered") {
		t.Errorf("it waits for a lease that no majority allows: %v", m.m)
	}
}
