package ballot_test

import (
	"testing"
	"unsafe"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

func TestAMachineIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(ballot.Machine{}); size > 1680 {
		t.Errorf("a machine has %d bytes", size)
	}
}

// renewal is a question and its answer.
type renewal struct {
	holder, supporter *ballot.Machine
	now               policy.Instant
	out               []policy.Effect
	question, answer  wire.Message
}

func newRenewal(t testing.TB) *renewal {
	c := newCircle(&testing.T{}, 2)
	c.t = t.(*testing.T)
	c.elect(0)
	c.need()
	return &renewal{holder: c.m[0], supporter: c.m[1], now: c.instant(), question: c.air[0]}
}

func TestAnAnswerAllocatesNothing(t *testing.T) {
	r := newRenewal(t)
	var end ballot.Outcome
	if n := testing.AllocsPerRun(100, func() {
		r.out = r.supporter.Receive(r.now, &r.question, &end, r.out[:0])
		r.answer = r.out[0].Msg
		r.out = r.holder.Receive(r.now, &r.answer, &end, r.out[:0])
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
