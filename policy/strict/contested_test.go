package strict_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/wire"
)

// The member's turn has come, its lease is too short for a start, another member has promised a newer epoch, and then
// no caller waits any more. No member accepts this token any more, so it is discarded and released. Otherwise all would
// wait until the lease has ended, the holder with a token that it cannot pass.
func TestAContestedTokenWithoutACallerIsDiscarded(t *testing.T) {
	s := settings(t, 3)
	m := begin(s, 0)
	m.step(policy.Event{Kind: policy.Wanted})
	promise := m.passes(t, ballot.KindPromise)[0]
	m.answers(&promise, ballot.KindPromised, 0)
	if !m.did(policy.Run) {
		t.Fatalf("it does not run under the token that it has made: %v", m.m)
	}
	m.step(policy.Event{Kind: policy.Finished})
	m.now.Time = m.m.Ballot().Until().Add(-s.KillAfter)
	m.step(policy.Event{Kind: policy.Wanted})
	renew := m.sent(ballot.KindRenew)
	if len(renew) != 2 || m.did(policy.Run) {
		t.Fatalf("with a lease that is too short for a start it asks %d members: %v", len(renew), m.m)
	}
	m.answers(&renew[1], ballot.KindRefused, uint64(ballot.EpochOf(renew[1].Token.Seq))+1<<32)
	if m.did(policy.Gave) {
		t.Fatal("one refusal ends a token with a lease")
	}
	m.step(policy.Event{Kind: policy.Unwanted})
	if releases := m.sent(ballot.KindRelease); len(releases) != 2 || !m.did(policy.Gave) ||
		m.m.Ballot().Token() != nil {
		t.Errorf("%d releases; it holds %v", len(releases), m.m.Ballot().Token())
	}
}

// A member that has promised a newer epoch no longer accepts the token of this one, and refuses it. The holder that
// offers the token then discards and releases it: otherwise it would offer it until its lease ends, and all others
// would propose in vain. A refusal of another offer, or with an older epoch, has no such effect.
func TestATokenThatIsRefusedForANewerEpochIsDiscarded(t *testing.T) {
	s := settings(t, 3)
	s.Moves, s.Request = strict.Ring, ring.Always
	holder, next := begin(s, 0), begin(s, 1)
	holder.step(policy.Event{Kind: policy.Wanted})
	promise := holder.passes(t, ballot.KindPromise)[0]
	holder.answers(&promise, ballot.KindPromised, 0)
	holder.step(policy.Event{Kind: policy.Finished})
	offer := holder.passes(t, handoff.KindToken)[0]

	next.now.Wall += int64(time.Minute)
	next.step(policy.Event{Kind: policy.Wanted})
	next.passes(t, ballot.KindPromise)
	if !next.m.Expects(&offer) {
		t.Fatal("it does not expect a token of an older epoch")
	}
	next.step(policy.Event{Kind: policy.Received, Msg: offer})
	refusals := next.sent(ballot.KindRefused)
	if len(refusals) != 1 || len(next.sent(handoff.KindAck)) > 0 {
		t.Fatalf("%d refusals of a token of an older epoch: %v", len(refusals), next.m)
	}

	other, older := refusals[0], refusals[0]
	other.Exchange++
	binary.BigEndian.PutUint64(older.Load[16:], uint64(ballot.EpochOf(offer.Token.Seq)))
	for _, refusal := range []wire.Message{other, older} {
		holder.step(policy.Event{Kind: policy.Received, Msg: refusal})
		if holder.did(policy.Gave) {
			t.Fatalf("it gives the token up for %v", &refusal)
		}
	}
	holder.step(policy.Event{Kind: policy.Received, Msg: refusals[0]})
	if releases := holder.sent(ballot.KindRelease); len(releases) != 2 || !holder.did(policy.Gave) ||
		holder.m.Ballot().Token() != nil {
		t.Errorf("%d releases; it holds %v", len(releases), holder.m.Ballot().Token())
	}
}

// A command whose token is over is stopped: a majority may have given the right to run to another member. When that
// command ends, no token is passed on.
func TestAnEndedTurnStopsItsCommand(t *testing.T) {
	for _, moves := range []strict.Moves{strict.Tree, strict.Ring} {
		t.Run(moves.String(), func(t *testing.T) {
			s := settings(t, 3)
			s.Moves, s.Request = moves, ring.Martin
			m := begin(s, 0)
			m.step(policy.Event{Kind: policy.Wanted})
			promise := m.passes(t, ballot.KindPromise)[0]
			m.answers(&promise, ballot.KindPromised, 0)
			if !m.did(policy.Run) {
				t.Fatalf("it does not run under the token that it has made: %v", m.m)
			}
			ends := m.m.Ballot().Until()
			renew := m.passes(t, ballot.KindRenew)
			m.answers(&renew[0], ballot.KindRefused, uint64(ballot.EpochOf(renew[0].Token.Seq))+1<<32)
			stopped := false
			for m.now.Time < ends {
				if stopped = stopped || m.did(policy.Stop); stopped {
					t.Fatalf("one refusal ends a token with a lease, %v before its end", ends.Sub(m.now.Time))
				}
				if !m.wakes() {
					t.Fatal("it is not woken any more")
				}
			}
			if !m.did(policy.Stop) || !m.did(policy.Gave) || m.m.Ballot().Token() != nil {
				t.Fatalf("its token is over, and it does %v", m.out)
			}
			m.step(policy.Event{Kind: policy.Finished})
			for range 20 {
				if offers := m.sent(handoff.KindToken); len(offers) > 0 {
					t.Fatalf("it passes on a token that is over: %v", &offers[0])
				}
				if !m.wakes() {
					break
				}
			}
		})
	}
}

// A member that has had its turn, and whose token is over, is the last to propose the next epoch, whether the newer one
// came after its run or meanwhile.
func TestAMemberThatHasHadItsTurnProposesLast(t *testing.T) {
	pauses := func(newerAt string) time.Duration {
		s := settings(t, 3)
		m := begin(s, 0)
		m.step(policy.Event{Kind: policy.Wanted})
		promise := m.passes(t, ballot.KindPromise)[0]
		m.answers(&promise, ballot.KindPromised, 0)
		if newerAt == "before" {
			m = begin(s, 0)
		}
		next := begin(s, 1)
		next.now.Wall += int64(time.Minute)
		next.step(policy.Event{Kind: policy.Wanted})
		newer := next.passes(t, ballot.KindPromise)[0]
		m.now.Time = m.now.Time.Add(2 * s.Lease)
		if newerAt == "after" {
			m.step(policy.Event{Kind: policy.Finished})
		}
		m.step(policy.Event{Kind: policy.Received, Msg: newer})
		m.step(policy.Event{Kind: policy.Finished})
		m.step(policy.Event{Kind: policy.Wanted})
		wanted := m.now.Time
		m.passes(t, ballot.KindPromise)
		return m.now.Time.Sub(wanted)
	}
	if free, after, meanwhile := pauses("before"), pauses("after"), pauses("meanwhile"); after <= free ||
		meanwhile <= free {
		t.Errorf("without a turn it proposes after %v, with one after %v and %v", free, after, meanwhile)
	}
}
