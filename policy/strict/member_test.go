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

// begin starts one of three members of a gate on demand, which sees the others.
func begin(s strict.Settings, rank int) *member { return beginWith(s, rank, true) }

func beginWith(s strict.Settings, rank int, onDemand bool) *member {
	m := &member{s: s, now: policy.Instant{Time: policy.Time(time.Hour), Wall: 1_800_000_000_000_000_000}}
	m.m = s.Machine(policy.Env{
		Self: s.Roster.ID(rank), OnDemand: onDemand, Entropy: rand.NewPCG(1, uint64(rank)),
	}).(*strict.Machine)
	m.step(policy.Event{Kind: policy.Started})
	m.step(policy.Event{
		Kind: policy.PeersChanged, Peers: []wire.MemberID{s.Roster.ID(0), s.Roster.ID(1), s.Roster.ID(2)},
	})
	return m
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

// wakes lets time pass until the member is woken, and reports whether it is.
func (m *member) wakes() bool {
	at, ok := m.m.NextWake()
	if ok {
		m.now.Time = max(m.now.Time, at)
		m.step(policy.Event{Kind: policy.Woke})
	}
	return ok
}

// passes lets time pass until the member sends a message of a kind, and returns these messages.
func (m *member) passes(t *testing.T, until wire.Kind) []wire.Message {
	t.Helper()
	for range 1000 {
		if messages := m.sent(until); len(messages) > 0 {
			return messages
		}
		if !m.wakes() {
			break
		}
	}
	t.Fatalf("it never sends kind %d: %v", until, m.m)
	return nil
}

// answers lets another member answer a question: newer is the epoch that it has promised, if it refuses.
func (m *member) answers(to *wire.Message, kind wire.Kind, newer uint64) {
	m.step(policy.Event{Kind: policy.Received, Msg: m.answer(to, kind, newer)})
}

func (m *member) answer(to *wire.Message, kind wire.Kind, newer uint64) wire.Message {
	a := wire.Message{Gate: to.Gate, Kind: kind, From: to.To, To: to.From, Exchange: to.Exchange, Token: to.Token}
	binary.BigEndian.PutUint64(a.Load[:], m.s.Roster.Hash())
	binary.BigEndian.PutUint64(a.Load[16:], newer)
	return a
}

// hears lets the member hear a message of the second one, if a shell would let it.
func (m *member) hears(msg wire.Message) {
	msg.From, msg.To = m.s.Roster.ID(1), m.s.Roster.ID(0)
	if !ballot.Owns(msg.Kind) && msg.Kind != handoff.KindCommit {
		binary.BigEndian.PutUint64(msg.Load[wire.LoadSize-8:], m.s.Roster.Hash())
	}
	if f := m.s.Descriptor(); f.WellFormed(&msg) && m.m.Expects(&msg) {
		m.step(policy.Event{Kind: policy.Received, Msg: msg})
	}
}

// lieOffer offers the member a token, and commits it.
func (m *member) lieOffer(token wire.Ref) {
	m.hears(wire.Message{Kind: handoff.KindToken, Token: token, Exchange: 5})
	for _, ack := range m.sent(handoff.KindAck) {
		commit := handoff.Reply(&ack, handoff.KindCommit, ack.Nonce)
		m.hears(commit)
	}
}

// A member that has stopped, or whose roster does not follow the saved one, takes no part: it expects no message, and
// is never due.
func TestAMemberThatHasStoppedTakesNoPart(t *testing.T) {
	s := settings(t, 3)
	asks, stopped := begin(s, 0), begin(s, 0)
	asks.step(policy.Event{Kind: policy.Wanted})
	promise := asks.passes(t, ballot.KindPromise)[0]
	answer := asks.answer(&promise, ballot.KindPromised, 0)
	if !asks.m.Expects(&answer) {
		t.Fatal("a member does not expect the answer to its question")
	}
	stopped.step(policy.Event{Kind: policy.Leave})
	if !stopped.did(policy.Gone) {
		t.Fatalf("it has nothing to do, and does not stop: %v", stopped.m)
	}
	barred := s.Machine(policy.Env{Self: s.Roster.ID(0), Entropy: rand.NewPCG(1, 2)}).(*strict.Machine)
	var saved policy.State
	five := settings(t, 5)
	b := ballot.New(ballot.Config{Roster: five.Roster, Entropy: rand.NewPCG(1, 2)})
	b.Memo(&saved.Memo)
	barred.Step(stopped.now, &policy.Event{Kind: policy.Started, State: saved}, nil)
	for what, m := range map[string]*strict.Machine{"stopped": stopped.m, "barred": barred} {
		if _, wakes := m.NextWake(); wakes || m.DueAt(stopped.now.Time) != policy.Never {
			t.Errorf("%s: it is due at %v: %v", what, m.DueAt(stopped.now.Time), m)
		}
		for _, kind := range []wire.Kind{ballot.KindPromise, ballot.KindPromised, handoff.KindToken} {
			msg := answer
			if msg.Kind = kind; m.Expects(&msg) {
				t.Errorf("%s: it expects kind %d", what, kind)
			}
		}
	}
}

// A host whose operation has succeeded soaks: all others hear that at once, because it may die in the next moment.
func TestASoakIsToldAtOnce(t *testing.T) {
	s := settings(t, 3)
	s.Soak = time.Minute
	m := begin(s, 0)
	m.step(policy.Event{Kind: policy.Wanted})
	m.runs(t)
	m.step(policy.Event{Kind: policy.Soaks, Soak: time.Minute})
	if told := len(m.sent(ballot.KindRenew)); told != 2 {
		t.Errorf("its host soaks, and it tells %d of the 2 others", told)
	}
}

// runs lets the member get a token and a lease, and begin its run.
func (m *member) runs(t *testing.T) {
	t.Helper()
	promise := m.passes(t, ballot.KindPromise)[0]
	m.answers(&promise, ballot.KindPromised, 0)
	for _, renew := range m.sent(ballot.KindRenew) {
		m.answers(&renew, ballot.KindRenewed, 0)
	}
	if why := m.m.Status(m.now.Time).Why; why != "running" {
		t.Fatalf("it does not run: %s", why)
	}
}

// The interval after the last run is a fact once there was a run.
func TestAMemberThatHasRunTellsWhenItsIntervalEnds(t *testing.T) {
	s := settings(t, 3)
	s.MinInterval = time.Hour
	m := beginWith(s, 0, false)
	ends := func() *policy.Fact { return policy.Find(m.m.Facts(m.now.Time, nil), policy.KeyIntervalEnds) }
	if f := ends(); f != nil {
		t.Errorf("it has not run yet, and tells %+v", f)
	}
	m.runs(t)
	if f := ends(); f == nil || f.At != m.now.Time.Add(time.Hour) {
		t.Errorf("it has begun its run at %v, and tells %+v", m.now.Time, f)
	}
}
