package strict_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/wire"
)

// One forged number must not become that of the next token, in whatever message it comes: no other member would promise
// it, and a member that has promised it would promise nothing else for good.
func TestAnImpossibleNumberIsNeverPromised(t *testing.T) {
	const cannotBe = wire.Seq(1<<62 | 1)
	token := wire.Ref{ID: wire.TokenID{Birth: 1, Generator: wire.MemberID{15: 2}, Random: 7}, Seq: cannotBe}
	named := func(kind wire.Kind, at int, value uint64) wire.Message {
		m := wire.Message{Kind: kind}
		binary.BigEndian.PutUint64(m.Load[at:], value)
		return m
	}
	for name, tc := range map[string]struct {
		moves strict.Moves
		lie   func(m *member)
	}{
		"a copy for this member": {
			strict.Ring, func(m *member) { m.hears(wire.Message{Kind: kcopies.KindToken, Token: token}) },
		},
		"a copy of another's": {strict.Ring, func(m *member) {
			lie := wire.Message{Kind: kcopies.KindToken, Token: token}
			lie.Load[1] = 2
			m.hears(lie)
		}},
		"a call": {strict.Ring, func(m *member) {
			lie := named(ring.KindRequest, 7, uint64(cannotBe))
			lie.Load[6], lie.Load[26], lie.Load[27] = 1, 1, 1 // of member 1, a call, in its second round
			m.hears(lie)
		}},
		"a site's word": {strict.Tree, func(m *member) {
			lie := named(tree.KindQuestion, 32, uint64(cannotBe))
			lie.Load[1] = 1
			m.hears(lie)
		}},
		"a release": {strict.Tree, func(m *member) { m.hears(wire.Message{Kind: ballot.KindRelease, Token: token}) }},
		"a promise": {strict.Tree, func(m *member) {
			lie := wire.Message{Kind: ballot.KindPromise, Token: token, Exchange: 1}
			setLoad(&lie.Load, m.s.Roster.Hash(), m.s.Lease, 0)
			m.hears(lie)
		}},
		"a renewal": {strict.Tree, func(m *member) {
			lie := wire.Message{Kind: ballot.KindRenew, Token: token, Exchange: 1}
			setLoad(&lie.Load, m.s.Roster.Hash(), m.s.Lease, 0)
			m.hears(lie)
		}},
		"a refusal": {strict.Tree, func(m *member) {
			m.step(policy.Event{Kind: policy.Wanted})
			asked := m.passes(t, ballot.KindPromise)[0]
			m.answers(&asked, ballot.KindRefused, uint64(cannotBe))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(t, 3)
			s.Moves, s.Request = tc.moves, ring.Martin
			m := begin(s, 0)
			tc.lie(m)
			m.lieOffer(token)
			m.step(policy.Event{Kind: policy.Wanted})
			m.out = m.out[:0]
			question := m.passes(t, ballot.KindPromise)[0]
			if latest := ballot.Latest(m.now.Wall); question.Token.Seq > latest {
				t.Errorf("it proposes the number %d: the highest possible one is %d", question.Token.Seq, latest)
			}
		})
	}
}

// setLoad writes the load of a question, or of a refusal.
func setLoad(to *wire.Load, roster uint64, span time.Duration, number uint64) {
	binary.BigEndian.PutUint64(to[:], roster)
	binary.BigEndian.PutUint64(to[8:], uint64(span))
	binary.BigEndian.PutUint64(to[16:], number)
}

// A member that has met a higher number than that of the token it is offered would discard the token: it refuses it
// instead, and the token that follows has a number above.
func TestATokenThatWouldBeDiscardedIsRefused(t *testing.T) {
	s := settings(t, 3)
	m := begin(s, 0)
	met := ballot.Latest(m.now.Wall) &^ (1<<31 - 1)
	word := wire.Message{Kind: tree.KindQuestion}
	word.Load[1] = 1
	binary.BigEndian.PutUint64(word.Load[32:], uint64(met))
	m.hears(word)
	offered := wire.Ref{ID: wire.TokenID{Generator: s.Roster.ID(1)}, Seq: wire.Seq(1_800_000_000) << 31}
	m.hears(wire.Message{Kind: handoff.KindToken, Token: offered, Exchange: 5})
	refusals := m.sent(ballot.KindRefused)
	if len(refusals) != 1 || len(m.sent(handoff.KindAck)) != 0 {
		t.Fatalf("it answers %+v", m.out)
	}
	if number := wire.Seq(binary.BigEndian.Uint64(refusals[0].Load[16:])); number != met {
		t.Errorf("it names %d, and has met %d", number, met)
	}
	m.now.Wall += int64(2 * time.Second)
	m.step(policy.Event{Kind: policy.Wanted})
	if question := m.passes(t, ballot.KindPromise)[0]; question.Token.Seq <= met {
		t.Errorf("it proposes %d, and has met %d", question.Token.Seq, met)
	}
}

// "busy until" cannot be longer than any lease: a member that is told so asks again.
func TestABusyMemberIsAskedAgainAfterALease(t *testing.T) {
	m := begin(settings(t, 3), 0)
	m.step(policy.Event{Kind: policy.Wanted})
	asked := m.passes(t, ballot.KindPromise)
	for i := range asked {
		a := wire.Message{
			Gate: asked[i].Gate, Kind: ballot.KindRefused, From: asked[i].To, To: asked[i].From,
			Exchange: asked[i].Exchange, Token: asked[i].Token,
		}
		setLoad(&a.Load, m.s.Roster.Hash(), 1<<62, 1)
		m.step(policy.Event{Kind: policy.Received, Msg: a})
	}
	told := m.now.Time
	m.out = m.out[:0]
	m.passes(t, ballot.KindPromise)
	if after := m.now.Time.Sub(told); after > 2*m.s.Lease {
		t.Errorf("it asks again after %v, the lease is %v", after, m.s.Lease)
	}
}

// A promise, saved by an older version, of an impossible epoch is forgotten with a note. A possible one is not, nor one
// that only seems impossible because this host's clock has not been set yet.
func TestAnImpossibleSavedPromiseIsForgotten(t *testing.T) {
	const wall = 1_800_000_000_000_000_000
	f := settings(t, 3).Descriptor()
	for name, tc := range map[string]struct {
		counter uint64
		wall    int64
		synced  bool
		kept    bool
	}{
		"forged":                        {1 << 31, wall, true, false},
		"forged, and the clock unset":   {1<<32 - 1, wall, false, false},
		"two days ahead":                {1_800_000_000 + 2*86400, wall, true, false},
		"an hour ahead":                 {1_800_000_000 + 3600, wall, true, true},
		"two days ahead, not set yet":   {1_800_000_000 + 2*86400, wall, false, true},
		"years ahead of an image's":     {1_800_000_000, wall - int64(4*365*24*time.Hour), false, true},
		"of a clock that was never set": {1_800_000_000, 0, false, true},
	} {
		s := policy.State{HasRun: true, LastRun: 7}
		binary.BigEndian.PutUint64(s.Memo[:], tc.counter<<31)
		s.Memo[10], s.Memo[20] = 3, 5
		before := s
		why := f.Doubt(tc.wall, tc.synced, &s)
		if kept := s == before; kept != tc.kept || (why == "") != tc.kept {
			t.Errorf("%s: kept %v, %q", name, kept, why)
		}
		if clear(before.Memo[:8]); !tc.kept && s != before {
			t.Errorf("%s: it forgets more: %+v", name, s)
		}
	}
}

// So is a kept grant, saved by whatever, with an impossible number; its member waits as if it had lost its state. A
// possible one is not.
func TestAnImpossibleKeptGrantIsForgotten(t *testing.T) {
	const wall = 1_800_000_000_000_000_000
	f := settings(t, 3).Descriptor()
	for name, tc := range map[string]struct {
		promised, kept uint64
		forgets        bool
	}{
		"possible":                       {1_800_000_000, 1_800_000_000, false},
		"forged":                         {1_800_000_000, 1<<32 - 1, true},
		"possible, and a forged promise": {1<<32 - 1, 1_800_000_000, true},
	} {
		s := policy.State{Kept: policy.Kept{
			Holder: wire.MemberID{1}, For: time.Hour,
			Token: wire.Ref{ID: wire.TokenID{Generator: wire.MemberID{1}}, Seq: wire.Seq(tc.kept<<31 + 1)},
		}}
		binary.BigEndian.PutUint64(s.Memo[:], tc.promised<<31)
		s.Memo[10] = 3
		why := f.Doubt(wall, true, &s)
		if forgets := !s.Kept.Is() && s.Memo[10] == 0; forgets != tc.forgets || (why != "") != tc.forgets {
			t.Errorf("%s: %+v, %q", name, s, why)
		}
	}
}

// "While a command runs here, no token is accepted": not an offer of a newer epoch, nor a copy, nor the Commit of an
// offer that came before.
func TestATokenIsNotAcceptedWhileACommandRuns(t *testing.T) {
	for name, moves := range map[string]strict.Moves{"tree": strict.Tree, "ring": strict.Ring} {
		s := settings(t, 3)
		s.Moves, s.Request = moves, ring.Martin
		m := begin(s, 0)
		m.step(policy.Event{Kind: policy.Wanted})
		asked := m.passes(t, ballot.KindPromise)
		m.answers(&asked[0], ballot.KindPromised, 0)
		if !m.did(policy.Run) {
			t.Fatalf("%s: it does not run: %v", name, m.m)
		}
		newer := ballot.EpochOf(m.m.Ballot().Token().Seq) + 1<<31
		token := wire.Ref{ID: wire.TokenID{Generator: s.Roster.ID(1), Random: 1}, Seq: wire.Seq(newer) + 1}
		for _, kind := range []wire.Kind{handoff.KindToken, kcopies.KindToken} {
			msg := wire.Message{Kind: kind, Token: token, From: s.Roster.ID(1), To: s.Roster.ID(0)}
			if kind == handoff.KindToken {
				msg.Exchange = 5
			}
			if m.m.Expects(&msg) {
				t.Errorf("%s: it expects kind %d", name, kind)
			}
			binary.BigEndian.PutUint64(msg.Load[wire.LoadSize-8:], s.Roster.Hash())
			m.step(policy.Event{Kind: policy.Received, Msg: msg}) // whatever the shell has asked
			if len(m.sent(handoff.KindAck)) > 0 || m.did(policy.Took) || m.did(policy.Gave) || m.did(policy.Run) {
				t.Errorf("%s: kind %d leads to %+v", name, kind, m.out)
			}
		}
	}
}
