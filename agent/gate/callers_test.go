package gate

import (
	"errors"
	"testing"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
)

// A caller whose run was denied comes first again; a caller that has gone meanwhile does not come again, and is told.
func TestADeniedCallerComesFirstAgainUnlessItHasGone(t *testing.T) {
	newCaller := func() *Caller { return &Caller{ended: []chan hook.Result{make(chan hook.Result, 1)}} }
	for _, gone := range []bool{false, true} {
		first, second := newCaller(), newCaller()
		g := &Gate{cfg: Config{Name: "x"}, callers: callers{queue: []*Caller{first, second}}, run: &launch{}}
		g.callers.begin()
		if gone {
			g.Withdraw(first)
			if !g.run.isStopped() {
				t.Error("the run of one that has gone is not stopped")
			}
		}
		g.callers.again()
		if next := g.callers.queue[0]; (next == first) == gone || (len(first.ended[0]) == 1) != gone {
			t.Errorf("gone: %v; it comes next: %v, and is told: %v", gone, next == first, len(first.ended[0]) == 1)
		}
	}
}

func TestMoreCallersThanAGateHoldsAreRefused(t *testing.T) {
	g := &Gate{cfg: Config{Name: "x"}, callers: callers{queue: make([]*Caller, maxCallers)}}
	err := g.Enqueue(&Caller{ExecRequest: control.ExecRequest{Gate: "x"}})
	if !refused(err, control.Busy) || len(g.callers.queue) != maxCallers {
		t.Errorf("%d wait, %v", len(g.callers.queue), err)
	}
}

func refused(err error, why control.Reason) bool {
	refusal, ok := errors.AsType[*control.Refusal](err)
	return ok && refusal.Reason == why
}
