package call_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/wire"
)

// A save that ends when its time is over starts no run: the guardians may already look for the holder.
func TestASaveThatEndsTooLateStartsNoRun(t *testing.T) {
	for early, want := range map[time.Duration]bool{1: true, 0: false} {
		s := &call.Settings{Skip: skip, Backups: 2}
		env := policy.Env{Gate: 7, Self: id(0), OnDemand: true, Entropy: new(fleet).entropy(0)}
		m, now := s.Machine(env), policy.Time(time.Hour)
		step := func(ev policy.Event) (out []policy.Effect) {
			return m.Step(policy.Instant{Time: now, Wall: noon + int64(now)}, &ev, nil)
		}
		does := func(kind policy.EffectKind, out []policy.Effect) bool {
			return slices.ContainsFunc(out, func(e policy.Effect) bool { return e.Kind == kind })
		}
		step(policy.Event{Kind: policy.Started})
		step(policy.Event{Kind: policy.PeersChanged, Peers: []wire.MemberID{id(0)}})
		out := step(policy.Event{Kind: policy.Wanted})
		for !does(policy.Save, out) || !m.Status(now).Holding {
			if does(policy.Save, out) {
				step(policy.Event{Kind: policy.Saved})
			}
			now, _ = m.NextWake()
			out = step(policy.Event{Kind: policy.Woke})
		}
		now = now.Add(s.SaveWithin() - early)
		if ran := does(policy.Run, step(policy.Event{Kind: policy.Saved})); ran != want {
			t.Errorf("%v before its time is over, the save starts a run: %v", early, ran)
		}
	}
}
