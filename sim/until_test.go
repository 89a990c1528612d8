package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/policy"
)

func TestARunIsGoneByTheEndOfItsGrant(t *testing.T) {
	const until = policy.Time(10 * time.Second)
	at := func(at time.Duration, void bool) []given {
		end := given{At: policy.Time(at), Kind: policy.Finished, Void: void}
		if void {
			end.Outcome = policy.Failed
		}
		return []given{end}
	}
	for name, tc := range map[string]struct {
		takes time.Duration
		do    func(*world)
		want  []given
	}{
		"it ends before":    {5 * time.Second, func(*world) {}, at(5*time.Second, false)},
		"it would end then": {time.Minute, func(*world) {}, at(10*time.Second, true)},
		"it is extended": {
			time.Minute, func(w *world) { w.extendRun(0, until.Add(10*time.Second)) }, at(20*time.Second, true),
		},
		"its agent stands still": {time.Minute, func(w *world) { w.Pause(0, time.Minute) }, at(61*time.Second, true)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(Config{Members: 1, Hook: Hook{Takes: tc.takes, Deaf: 1, KillAfter: time.Hour}})
			w.Boot()
			w.startRun(0, false, 0, until)
			w.run(t, time.Second)
			w.events()
			tc.do(w)
			w.run(t, time.Hour)
			if d := cmp.Diff(tc.want, w.events(policy.Finished)); d != "" {
				t.Error(d)
			}
		})
	}
}

// The guard of a dead agent's run needs no message from the agent, and does not wait for a longer grace period.
func TestTheRunOfADeadAgentIsGoneByTheEndOfItsGrant(t *testing.T) {
	l := &lives{}
	w := newWorld(Config{
		Members: 1, Hook: Hook{Takes: time.Hour, Deaf: 1}, OrphanGrace: time.Minute, Watchers: []Watcher{l},
	})
	w.Boot()
	w.startRun(0, false, 0, policy.Time(10*time.Second))
	w.run(t, time.Second)
	w.Crash(0)
	w.run(t, time.Hour)
	if d := cmp.Diff([]string{"1.000s crashed", "10.000s lost a run"}, l.told); d != "" {
		t.Error(d)
	}
}
