package ring

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
)

func TestStatusSaysHowManyMembersKeepACopyOfTheToken(t *testing.T) {
	cfg := configOf(Always, rosterOf(4), 0)
	cfg.Backups = 2
	if facts := New(cfg).Facts(0, nil); !slices.Contains(facts, policy.Fact{Key: policy.KeyBackups, Count: 2}) {
		t.Errorf("it says %+v", facts)
	}
}

// A member whose start could not be saved tries again by itself, if nobody else wants the token: not at once, and when
// its time is over.
func TestAMemberThatWasDeniedTriesAgain(t *testing.T) {
	m := New(configOf(Q, rosterOf(2), 0))
	now := policy.Instant{Time: 1, Wall: 1}
	saves := func(ev policy.Event) bool {
		out := m.Step(now, &ev, nil)
		return slices.ContainsFunc(out, func(e policy.Effect) bool { return e.Kind == policy.Save })
	}
	saves(policy.Event{Kind: policy.Started})
	saves(policy.Event{Kind: policy.PeersChanged, Peers: rosterOf(2)})
	if !saves(policy.Event{Kind: policy.Wanted}) {
		t.Fatalf("it does not save its start: %v", m)
	}
	if saves(policy.Event{Kind: policy.Saved, Failed: true}) {
		t.Error("it tries again at once")
	}
	at, ok := m.NextWake()
	if !ok || at <= now.Time {
		t.Fatalf("it wakes at %v: %v", at, m)
	}
	if now.Time = at; !saves(policy.Event{Kind: policy.Woke}) {
		t.Error("it does not try again")
	}
}
