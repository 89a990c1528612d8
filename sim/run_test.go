package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

func TestARunEndsOnceHoweverItEnds(t *testing.T) {
	for _, h := range []struct {
		name    string
		hook    Hook
		stop    bool
		ends    time.Duration
		outcome policy.Outcome
	}{
		{"by itself", Hook{Takes: time.Minute}, false, time.Minute, policy.Succeeded},
		{"at once, because it fails", Hook{Takes: time.Minute, Fails: 1}, false, termTime, policy.Failed},
		{"at once, because it cannot work now", Hook{Takes: time.Minute, NotNow: 1}, false, termTime, policy.NotNow},
		{
			"at its timeout",
			Hook{Takes: time.Minute, Hangs: 1, Timeout: 2 * time.Minute},
			false,
			2*time.Minute + termTime, policy.Failed,
		},
		{"by being stopped", Hook{Takes: time.Minute}, true, time.Second + termTime, policy.Failed},
		{
			"by being killed",
			Hook{Takes: time.Minute, Deaf: 1, KillAfter: 5 * time.Second},
			true, 6 * time.Second,
			policy.Failed,
		},
	} {
		t.Run(h.name, func(t *testing.T) {
			w := newWorld(Config{Members: 1, Hook: h.hook})
			w.Boot()
			w.events()
			w.startRun(0, false, 0, 0)
			w.run(t, time.Second)
			if h.stop {
				w.stopRun(0)
			}
			w.run(t, time.Hour)
			want := []given{
				{At: policy.Time(h.ends), Kind: policy.Finished, Void: h.hook.Hangs > 0, Outcome: h.outcome},
			}
			if d := cmp.Diff(want, w.events(policy.Finished)); d != "" {
				t.Error(d)
			}
		})
	}
}

// lives records what happens to members and their runs.
type lives struct{ told []string }

func (l *lives) Watch(_ *Cluster, o *Occurrence) error {
	if o.Kind == Crashed || o.Kind == RunGone {
		l.told = append(l.told, fmt.Sprintf("%s %s", Seconds(o.At), o.Kind))
	}
	return nil
}

// A run outlives its agent until its guard has ended it. Only then does the guard send the messages that were
// pre-signed for it.
func TestTheGuardOfARunEndsItBeforeItSpeaks(t *testing.T) {
	const grace = 100 * time.Millisecond
	said := func(times ...time.Duration) (at []policy.Time) {
		for _, d := range times {
			at = append(at, policy.Time(d))
		}
		return at
	}
	for _, tc := range []struct {
		name string
		hook Hook
		do   func(*world)
		told []string
		said []policy.Time
	}{
		{
			"it ends when told to",
			Hook{Takes: time.Minute},
			func(w *world) { w.Crash(0) },
			[]string{"1.000s crashed", "1.010s lost a run"},
			said(1010*time.Millisecond, 1035*time.Millisecond, 1060*time.Millisecond),
		},
		{
			"it is killed",
			Hook{Takes: time.Minute, Deaf: 1, KillAfter: time.Hour},
			func(w *world) { w.Crash(0) },
			[]string{"1.000s crashed", "1.100s lost a run"},
			said(1100*time.Millisecond, 1125*time.Millisecond, 1150*time.Millisecond),
		},
		{
			"it ends by itself just then",
			Hook{Takes: 1050 * time.Millisecond, Deaf: 1},
			func(w *world) { w.Crash(0) },
			[]string{"1.000s crashed", "1.050s lost a run"},
			said(1050*time.Millisecond, 1075*time.Millisecond, 1100*time.Millisecond),
		},
		{"it had ended", Hook{Takes: 900 * time.Millisecond}, func(w *world) {
			w.Crash(0)
		}, []string{"1.000s crashed"}, nil},
		{
			"all is taken back",
			Hook{Takes: time.Minute},
			func(w *world) { w.preSign(0, &wire.Message{}); w.Crash(0) },
			[]string{"1.000s crashed", "1.010s lost a run"},
			nil,
		},
		{
			"the host is down",
			Hook{Takes: time.Minute},
			func(w *world) { w.PowerCut(0) },
			[]string{"1.000s crashed"},
			nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := &lives{}
			w := newWorld(Config{Members: 2, Hook: tc.hook, OrphanGrace: grace, Watchers: []Watcher{l}})
			w.Boot()
			w.startRun(0, false, 0, 0)
			m := w.message(0, 1)
			w.preSign(0, &m)
			w.run(t, time.Second)
			w.events()
			tc.do(w)
			w.run(t, time.Hour)
			if d := cmp.Diff(tc.told, l.told); d != "" {
				t.Error(d)
			}
			var heard []policy.Time
			for _, g := range w.events(policy.Received) {
				heard = append(heard, g.At)
			}
			if d := cmp.Diff(tc.said, heard); d != "" {
				t.Error(d)
			}
		})
	}
}
