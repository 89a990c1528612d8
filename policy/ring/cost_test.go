package ring

import (
	"testing"
	"unsafe"

	"github.com/wanderd/wanderd/policy"
)

// A simulation has thousands of members.
func TestAMemberIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Machine{}); size > 512 {
		t.Errorf("a machine has %d bytes", size)
	}
}

func TestAStepAllocatesNothing(t *testing.T) {
	members := rosterOf(2)
	m := New(configOf(Q, members, 1))
	out := make([]policy.Effect, 0, 8)
	var ev policy.Event
	step := func(kind policy.EventKind) {
		ev.Kind = kind
		out = m.Step(policy.Instant{}, &ev, out[:0])
	}
	step(policy.Started)
	ev.Peers = members
	step(policy.PeersChanged)
	visit := func() {
		step(policy.Wanted)
		ev.Msg.Kind, ev.Msg.Token = KindPass, ref()
		step(policy.Received)
		step(policy.Saved)
		ev.Msg.Kind = KindRequest
		step(policy.Received)
		step(policy.Finished)
		if m.holds() {
			t.Fatal("the token is not passed on")
		}
	}
	visit() // the first token that is met is announced
	if allocs := testing.AllocsPerRun(100, visit); allocs != 0 {
		t.Errorf("a visit of the token allocates %v times", allocs)
	}
}
