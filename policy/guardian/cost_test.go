package guardian_test

import (
	"math/rand/v2"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
)

// vigil is a holder that sends heartbeats, and one of its guardians.
type vigil struct {
	now              policy.Time
	holder, guardian guardian.Machine
	token            guardian.Token
	out              [2][]policy.Effect
	end              guardian.Outcome
}

func newVigil() *vigil {
	v := &vigil{now: began, token: theToken}
	v.holder = guardian.New(guardian.Config{Gate: gate, Self: annsID, Patience: patience, Entropy: rand.NewPCG(1, 1)})
	v.guardian = guardian.New(guardian.Config{Gate: gate, Self: bobsID, Patience: patience, Entropy: rand.NewPCG(2, 2)})
	for i := range v.out {
		v.out[i] = make([]policy.Effect, 0, 8)
	}
	v.holder.Hold(v.now, &v.token, v.out[0])
	return v
}

// heartbeat lets the holder send one heartbeat, and reports whether it was news.
func (v *vigil) heartbeat() bool {
	v.now, _ = v.holder.NextWake(&v.token)
	v.out[0] = v.holder.Wake(v.now, &v.token, &v.end, v.out[0][:0])
	news := v.guardian.Expects(&v.out[0][0].Msg, nil)
	v.out[1] = v.guardian.Receive(v.now, &v.out[0][0].Msg, nil, &v.end, v.out[1][:0])
	return news && len(v.out[0]) == 2 && len(v.out[1]) == 0
}

func TestAHeartbeatAllocatesNothing(t *testing.T) {
	v := newVigil()
	allocs := testing.AllocsPerRun(100, func() {
		if !v.heartbeat() {
			t.Fatal("the heartbeat is no news")
		}
	})
	if allocs != 0 {
		t.Errorf("a heartbeat allocates %v times", allocs)
	}
}

func TestAQuestionAllocatesNothing(t *testing.T) {
	v := newVigil()
	v.heartbeat()
	allocs := testing.AllocsPerRun(100, func() {
		v.now, _ = v.guardian.NextWake(nil)
		v.out[1] = v.guardian.Wake(v.now, nil, &v.end, v.out[1][:0])
		v.out[0] = v.holder.Receive(v.now, &v.out[1][1].Msg, &v.token, &v.end, v.out[0][:0])
		if v.out[0][0].Msg.Kind != guardian.KindHeartbeat {
			t.Fatalf("the holder answers with a %v", v.out[0][0].Msg.Kind)
		}
		v.out[1] = v.guardian.Receive(v.now, &v.out[0][0].Msg, nil, &v.end, v.out[1][:0])
	})
	if allocs != 0 {
		t.Errorf("a question and its answer allocate %v times", allocs)
	}
}

// BenchmarkHeartbeat measures the cost of a heartbeat: a wake-up that sends two messages, and the reception of one.
func BenchmarkHeartbeat(b *testing.B) {
	v := newVigil()
	b.ReportAllocs()
	for b.Loop() {
		if !v.heartbeat() {
			b.Fatal("the heartbeat is no news")
		}
	}
}
