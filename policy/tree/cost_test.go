package tree

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// round is all that a site does for a section that another one asks for: forward REQ, take one as root, send COMMIT and
// TOKEN, ask for the token itself, and search the queue.
type round struct {
	m      *Machine
	now    policy.Instant
	out    []policy.Effect
	event  policy.Event
	number uint64
}

type counter uint64

func (c *counter) Uint64() uint64 {
	*c++
	return uint64(*c)
}

func newRound() *round {
	roster := ids(9)
	site := func(i int) *Machine {
		return New(Config{
			Gate: 1, Self: roster[i], Roster: roster, Backups: 3, Timers: timers(), Entropy: new(counter),
		})
	}
	r := &round{m: site(0), out: []policy.Effect{}}
	r.step(policy.Event{Kind: policy.Started})
	return r
}

func (r *round) step(ev policy.Event) {
	r.event = ev
	r.out = r.m.Step(r.now, &r.event, r.out[:0])
}

// receive delivers a message of site 1.
func (r *round) receive(kind wire.Kind, token *wire.Ref, b body) {
	b.from = 1
	msg := wire.Message{Gate: 1, Kind: kind, From: r.m.cfg.Roster[1], To: r.m.cfg.Self}
	if token != nil {
		msg.Token = *token
	}
	b.write(&msg.Load)
	r.step(policy.Event{Kind: policy.Received, Msg: msg})
}

func (r *round) once(t testing.TB) {
	r.step(policy.Event{Kind: policy.Wanted})
	r.number++
	r.receive(KindRequest, nil, body{origin: 1, number: r.number, pos: none, next: nobody})
	r.step(policy.Event{Kind: policy.Finished})
	if r.m.holds {
		t.Fatal("the token is still here")
	}
	token := r.m.token
	r.step(policy.Event{Kind: policy.Wanted})
	r.receive(KindQuestion, nil, body{origin: 0, pos: 7, next: nobody})
	r.receive(KindSearchQueue, nil, body{origin: 1, pos: none, next: nobody})
	for range 2 {
		r.now.Time, _ = r.m.NextWake()
		r.step(policy.Event{Kind: policy.Woke})
	}
	token.Seq = r.m.known + 1
	r.receive(KindToken, &token, body{origin: 0, number: r.m.number, pos: 7, next: nobody})
	r.step(policy.Event{Kind: policy.Finished})
	if !r.m.idle() {
		t.Fatalf("the site is %s", r.m)
	}
}

func TestNoStepAllocates(t *testing.T) {
	r := newRound()
	r.once(t)
	if allocs := testing.AllocsPerRun(100, func() { r.once(t) }); allocs != 0 {
		t.Errorf("a round allocates %v times", allocs)
	}
}

func BenchmarkRound(b *testing.B) {
	r := newRound()
	b.ReportAllocs()
	for b.Loop() {
		r.once(b)
	}
}
