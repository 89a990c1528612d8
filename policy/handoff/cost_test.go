package handoff_test

import (
	"math/rand/v2"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// shuttle passes the token from one member to the other and back, with three messages each.
type shuttle struct {
	now  policy.Time
	ends [2]handoff.Machine
	out  [2][]policy.Effect
}

func newShuttle() *shuttle {
	s := &shuttle{}
	for i, entropy := range []policy.Entropy{rand.NewPCG(1, 1), rand.NewPCG(2, 2)} {
		s.ends[i] = handoff.New(handoff.Config{Gate: gate, Self: ids[i], Timeout: timeout, Entropy: entropy})
		s.out[i] = make([]policy.Effect, 0, 4)
	}
	return s
}

// pass passes the token from one end and reports whether it arrived at the other.
func (s *shuttle) pass(from int) bool {
	to := 1 - from
	s.now++
	s.out[from] = s.ends[from].Offer(s.now, &theToken, new(wire.Load), ids[to], s.out[from][:0])
	offered := &s.out[from][len(s.out[from])-1].Msg
	var end handoff.Outcome
	s.out[to] = s.ends[to].Receive(s.now, offered, &end, s.out[to][:0])
	acknowledged := &s.out[to][len(s.out[to])-1].Msg
	s.out[from] = s.ends[from].Receive(s.now, acknowledged, &end, s.out[from][:0])
	committed := &s.out[from][len(s.out[from])-1].Msg
	s.out[to] = s.ends[to].Receive(s.now, committed, &end, s.out[to][:0])
	return end.Ending == handoff.Arrived
}

func TestAHandoffAllocatesNothing(t *testing.T) {
	s, from := newShuttle(), 0
	allocs := testing.AllocsPerRun(100, func() {
		if !s.pass(from) {
			t.Fatal("the token did not arrive")
		}
		from = 1 - from
	})
	if allocs != 0 {
		t.Errorf("a handoff allocates %v times", allocs)
	}
}

// BenchmarkHandoff is a whole handoff: an offer and three messages received.
func BenchmarkHandoff(b *testing.B) {
	s, from := newShuttle(), 0
	b.ReportAllocs()
	for b.Loop() {
		if !s.pass(from) {
			b.Fatal("the token did not arrive")
		}
		from = 1 - from
	}
}
