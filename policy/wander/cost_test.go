package wander_test

import (
	"testing"
	"unsafe"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// A simulation has a hundred thousand members, at 3.7 KiB each: a machine, and the host around it.
func TestAMemberIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(wander.Machine{}); size > 3736 {
		t.Errorf("a machine has %d bytes", size)
	}
}

// visit is all that a member does for a token that it does not need: receive it, let it rest, pass it on.
type visit struct {
	m     *wander.Machine
	now   policy.Instant
	out   []policy.Effect
	event policy.Event
	offer wire.Message
}

func newVisit(t testing.TB) *visit {
	cfg := config()
	cfg.MinInterval = 1 << 60 // however often this is done, the interval is never over
	v := &visit{m: wander.New(cfg), out: make([]policy.Effect, 0, 8)}
	v.now.Wall = noon
	v.step(policy.Event{Kind: policy.Started, State: policy.State{
		HasRun: true, LastRun: 0, Memo: soft.Memo{Token: born(1, 0).ID}.Bytes(), Seq: 1,
	}})
	v.step(policy.Event{
		Kind: policy.PeersChanged, TokenKnown: true, Peers: []wire.MemberID{id(1), id(2), self, id(4), id(5)},
	})
	v.offer = wire.Message{Gate: cfg.Gate, Kind: handoff.KindToken, From: id(1), To: self, Token: born(1, 10).Ref}
	v.once(t) // the first token that it meets is announced
	return v
}

func (v *visit) step(ev policy.Event) {
	v.event = ev
	v.out = v.m.Step(v.now, &v.event, v.out[:0])
}

func (v *visit) once(t testing.TB) {
	v.offer.Exchange++
	v.offer.Token.Seq += 4 // by this much it rises on its way round and back
	v.step(policy.Event{Kind: policy.Received, Msg: v.offer})
	ack := &v.out[len(v.out)-1].Msg
	v.step(policy.Event{Kind: policy.Received, Msg: handoff.Reply(ack, handoff.KindCommit, ack.Nonce)})
	at, ok := v.m.NextWake()
	if !ok {
		t.Fatal("the token does not rest")
	}
	v.now.Time = at
	v.step(policy.Event{Kind: policy.Woke})
	token := &v.out[len(v.out)-1].Msg
	v.step(policy.Event{Kind: policy.Received, Msg: handoff.Reply(token, handoff.KindAck, 77)})
	if last := &v.out[len(v.out)-1]; last.Kind != policy.Send || last.Msg.Kind != handoff.KindCommit {
		t.Fatal("the token is not passed on")
	}
}

func TestAVisitOfTheTokenAllocatesNothing(t *testing.T) {
	v := newVisit(t)
	if allocs := testing.AllocsPerRun(100, func() { v.once(t) }); allocs != 0 {
		t.Errorf("a visit of the token allocates %v times", allocs)
	}
}

// BenchmarkVisit is four steps: Token, Commit, Woke, Ack.
func BenchmarkVisit(b *testing.B) {
	v := newVisit(b)
	b.ReportAllocs()
	for b.Loop() {
		v.once(b)
	}
}

// BenchmarkStepThatChangesNothing measures a message that was not expected.
func BenchmarkStepThatChangesNothing(b *testing.B) {
	v := newVisit(b)
	stray := handoff.Reply(&v.offer, handoff.KindCommit, 5)
	b.ReportAllocs()
	for b.Loop() {
		v.step(policy.Event{Kind: policy.Received, Msg: stray})
	}
}
