package directive_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// paused returns a layer whose pause is over, and that has not noticed it.
func paused(t *testing.T) *desk {
	d := newDesk(t, 0)
	d.gives(noon + int64(time.Hour))
	d.pass(time.Hour)
	return d
}

// The machine takes up what it left at the beginning of the pause, and saves again. A save that ends now is an earlier
// one.
func TestTheEndOfAPauseComesAfterTheAnswerOfADisk(t *testing.T) {
	d := paused(t)
	if d.step(policy.Event{Kind: policy.Saved}); d.Paused() {
		t.Error("the pause does not end")
	}
	n := len(d.m.events)
	if last := d.m.events[n-2:]; !slices.Equal(last, []policy.EventKind{policy.Saved, policy.Directed}) {
		t.Errorf("the machine is given %v", last)
	}
}

func TestAMessageThatIsNotExpectedEndsNoPause(t *testing.T) {
	d := paused(t)
	d.step(policy.Event{Kind: policy.Received, Msg: wire.Message{Kind: stray, From: other, To: self}})
	if n := len(d.m.events); !d.Paused() || d.m.events[n-1] != policy.Received {
		t.Errorf("it does: the machine is given %v", d.m.events[n-2:])
	}
	if at, ok := d.NextWake(); !ok || at > d.now.Time {
		t.Errorf("it wakes at %v", at)
	}
	if d.step(policy.Event{Kind: policy.Received, Msg: wire.Message{From: other, To: self}}); d.Paused() {
		t.Error("one that is expected does not end it")
	}
}
