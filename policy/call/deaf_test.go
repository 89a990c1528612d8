package call_test

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/wire"
)

// A token that is made by a first home that nobody hears is of no use: the second home makes one, after twice as long.
func TestTheSecondHomeMakesATokenIfNobodyHearsTheFirst(t *testing.T) {
	f := newFleet(t, 6)
	homes, caller := f.homes(), 0
	for slices.Contains(homes, caller) {
		caller++
	}
	f.lost = func(m *wire.Message) bool { return m.From == id(homes[0]) }
	f.step(caller, policy.Event{Kind: policy.Wanted})
	longest := 60 * call.Patience(skip) // Δmax of a gate on demand
	f.advance(2*longest - skip)
	if len(f.runs) > 0 {
		t.Errorf("before the second home may make a token, these have run: %v", f.runs)
	}
	f.advance(10 * skip)
	if !slices.Equal(f.runs, []int{caller}) {
		t.Errorf("these have run: %v", f.runs)
	}
}

// A holder that wants to run, and that hears nobody, does not keep others from reviving its token by its heartbeats.
func TestADeafHolderThatWantsToRunIsReplaced(t *testing.T) {
	f := withToken(t, 6)
	waiter, hears := f.caller(), true
	f.lost = func(m *wire.Message) bool { return m.To == id(2) && (!hears || m.Kind != call.KindNext) }
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.step(waiter, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	hears = false // It has heard that another member waits.
	f.advance(30 * skip)
	if !slices.Equal(f.runs, []int{waiter}) {
		t.Errorf("these have run: %v", f.runs)
	}
}
