package ring

import (
	"testing"
	"unsafe"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A simulation has thousands of members.
func TestAMemberIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Machine{}); size > 512 {
		t.Errorf("a machine has %d bytes", size)
	}
}

func TestAStepAllocatesNothing(t *testing.T) {
	e := newExplorer(Q, 2)
	m := e.machines[1]
	msg := e.tokenTo(1, token{tour: 1})
	out := make([]policy.Effect, 0, 8)
	var ev policy.Event
	step := func(kind policy.EventKind) {
		ev.Kind = kind
		out = m.Step(policy.Instant{}, &ev, out[:0])
	}
	visit := func() {
		step(policy.Wanted)
		ev.Msg = msg
		step(policy.Received)
		step(policy.Saved)
		ev.Msg.Kind, ev.Msg.Load = KindRequest, wire.Load{}
		request{tour: 1}.write(&ev.Msg)
		step(policy.Received)
		step(policy.Finished)
		if m.holds() {
			t.Fatal("the token is not passed on")
		}
		msg.Token.Seq += 2
	}
	visit() // the first token that is met is announced
	if allocs := testing.AllocsPerRun(100, visit); allocs != 0 {
		t.Errorf("a visit of the token allocates %v times", allocs)
	}
}
