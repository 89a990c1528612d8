package strict_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/wire"
)

// member is one member of a strict gate; the test plays the others.
type member struct {
	s   strict.Settings
	m   *strict.Machine
	now policy.Instant
	out []policy.Effect
}

// step gives an event to the member. What it wants to save is saved at once.
func (m *member) step(ev policy.Event) {
	m.out = m.m.Step(m.now, &ev, m.out[:0])
	for i := 0; i < len(m.out); i++ {
		if m.out[i].Kind == policy.Save {
			m.out = m.m.Step(m.now, &policy.Event{Kind: policy.Saved}, m.out)
		}
	}
}

// sent returns what the last step has sent of a kind.
func (m *member) sent(kind wire.Kind) (messages []wire.Message) {
	for i := range m.out {
		if m.out[i].Kind == policy.Send && m.out[i].Msg.Kind == kind {
			messages = append(messages, m.out[i].Msg)
		}
	}
	return messages
}

func (m *member) did(kind policy.EffectKind) bool {
	return slices.ContainsFunc(m.out, func(e policy.Effect) bool { return e.Kind == kind })
}

// passes lets time pass until the member sends a message of a kind, and returns these messages.
func (m *member) passes(t *testing.T, until wire.Kind) []wire.Message {
	t.Helper()
	for range 1000 {
		if messages := m.sent(until); len(messages) > 0 {
			return messages
		}
		at, ok := m.m.NextWake()
		if !ok {
			break
		}
		m.now.Time = max(m.now.Time, at)
		m.step(policy.Event{Kind: policy.Woke})
	}
	t.Fatalf("it never sends kind %d: %v", until, m.m)
	return nil
}

// answers lets another member answer a question: newer is the epoch that it has promised, if it refuses.
func (m *member) answers(to *wire.Message, kind wire.Kind, newer uint64) {
	a := wire.Message{Gate: to.Gate, Kind: kind, From: to.To, To: to.From, Exchange: to.Exchange, Token: to.Token}
	binary.BigEndian.PutUint64(a.Load[:], m.s.Roster.Hash())
	binary.BigEndian.PutUint64(a.Load[16:], newer)
	m.step(policy.Event{Kind: policy.Received, Msg: a})
}

// The member's turn has come, its lease is too short for a start, another member has promised a newer epoch, and then
// no caller waits any more. No member accepts this token any more, so it is discarded and released. Otherwise all would
// wait until the lease has ended, the holder with a token that it cannot pass.
func TestAContestedTokenWithoutACallerIsDiscarded(t *testing.T) {
	s := settings(t, 3)
	m := &member{s: s, now: policy.Instant{Time: policy.Time(time.Hour), Wall: 1_700_000_000_000_000_000}}
	m.m = s.Machine(policy.Env{Self: s.Roster.ID(0), OnDemand: true, Entropy: rand.NewPCG(1, 2)}).(*strict.Machine)
	m.step(policy.Event{Kind: policy.Started})
	m.step(policy.Event{
		Kind: policy.PeersChanged, Peers: []wire.MemberID{s.Roster.ID(0), s.Roster.ID(1), s.Roster.ID(2)},
	})
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
	start := func(rank int) *member {
		m := &member{s: s, now: policy.Instant{Time: policy.Time(time.Hour), Wall: 1_700_000_000_000_000_000}}
		m.m = s.Machine(policy.Env{
			Self: s.Roster.ID(rank), OnDemand: true, Entropy: rand.NewPCG(1, uint64(rank)),
		}).(*strict.Machine)
		m.step(policy.Event{Kind: policy.Started})
		m.step(policy.Event{
			Kind: policy.PeersChanged, Peers: []wire.MemberID{s.Roster.ID(0), s.Roster.ID(1), s.Roster.ID(2)},
		})
		return m
	}
	holder, next := start(0), start(1)
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
			m := &member{s: s, now: policy.Instant{Time: policy.Time(time.Hour), Wall: 1_700_000_000_000_000_000}}
			m.m = s.Machine(policy.Env{
				Self: s.Roster.ID(0), OnDemand: true, Entropy: rand.NewPCG(1, 2),
			}).(*strict.Machine)
			m.step(policy.Event{Kind: policy.Started})
			m.step(policy.Event{
				Kind: policy.PeersChanged, Peers: []wire.MemberID{s.Roster.ID(0), s.Roster.ID(1), s.Roster.ID(2)},
			})
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
				at, ok := m.m.NextWake()
				if !ok {
					t.Fatal("it is not woken any more")
				}
				m.now.Time = max(m.now.Time, at)
				m.step(policy.Event{Kind: policy.Woke})
			}
			if !m.did(policy.Stop) || !m.did(policy.Gave) || m.m.Ballot().Token() != nil {
				t.Fatalf("its token is over, and it does %v", m.out)
			}
			m.step(policy.Event{Kind: policy.Finished})
			for range 20 {
				if offers := m.sent(handoff.KindToken); len(offers) > 0 {
					t.Fatalf("it passes on a token that is over: %v", &offers[0])
				}
				at, ok := m.m.NextWake()
				if !ok {
					break
				}
				m.now.Time = max(m.now.Time, at)
				m.step(policy.Event{Kind: policy.Woke})
			}
		})
	}
}
