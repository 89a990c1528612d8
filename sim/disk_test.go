package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// saves lets the machine of member 0 ask for saves of these numbers, one step each.
func (w *world) saves(numbers ...wire.Seq) {
	for _, seq := range numbers {
		w.probes[0].answer = func(ev *policy.Event) []policy.Effect {
			if ev.Kind != policy.Woke {
				return nil
			}
			return []policy.Effect{{Kind: policy.Save, State: policy.State{Seq: seq}}}
		}
		w.event.Kind = policy.Woke
		w.step(0, &w.event, about{})
	}
}

func TestASaveTakesAsLongAsItsDisk(t *testing.T) {
	for _, tc := range []struct {
		name   string
		disk   Disk
		saved  []policy.Time
		failed bool
		// disk is what is on the disk in the end.
		onDisk wire.Seq
	}{
		{"no time", Disk{}, []policy.Time{0, 0, 0}, false, 3},
		{"no time, and fails", Disk{Fails: 1}, []policy.Time{0, 0, 0}, true, 0},
		// The third replaces the second before the second is begun.
		{"slow", Disk{Takes: time.Second}, []policy.Time{policy.Time(2 * time.Second)}, false, 3},
		{"slow, and fails", Disk{Takes: time.Second, Fails: 1}, []policy.Time{policy.Time(2 * time.Second)}, true, 0},
		{"hangs", Disk{Hangs: 1}, nil, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(Config{Members: 1, Disk: tc.disk})
			w.Boot()
			w.events()
			w.saves(1, 2, 3)
			w.run(t, time.Hour)
			want := []given{}
			for _, at := range tc.saved {
				want = append(want, given{At: at, Kind: policy.Saved, Failed: tc.failed})
			}
			if d := cmp.Diff(want, w.events(policy.Saved)); d != "" {
				t.Error(d)
			}
			if got := w.Disk(0).Seq; got != tc.onDisk {
				t.Errorf("%d is on the disk, want %d", got, tc.onDisk)
			}
		})
	}
}

func TestASaveUnderWayAtACrashIsWholeOrAbsent(t *testing.T) {
	there := 0
	for seed := range uint64(100) {
		w := newWorld(Config{Seed: seed, Members: 1, Disk: Disk{Takes: time.Second}})
		w.Boot()
		w.saves(1, 2)
		w.Crash(0)
		if seq := w.Disk(0).Seq; seq > 1 {
			t.Fatal("what had not been begun is on the disk")
		} else if seq == 1 {
			there++
		}
		w.run(t, time.Minute)
		w.Start(0)
		w.events()
		w.run(t, time.Hour)
		if got := w.events(policy.Saved); len(got) > 0 {
			t.Fatalf("the next life is told of a save: %v", got)
		}
	}
	if there < 30 || there > 70 {
		t.Errorf("in %d of 100 worlds it is there", there)
	}
}

func TestAMendedDiskEndsHangingSaves(t *testing.T) {
	w := newWorld(Config{Members: 1})
	w.SetDisk(0, Disk{Hangs: 1})
	w.Boot()
	w.saves(1, 2)
	w.run(t, time.Minute)
	w.mendDisks()
	w.run(t, time.Minute)
	if got := w.Disk(0).Seq; got != 2 {
		t.Errorf("%d is on the disk", got)
	}
}

func TestAProcessThatIsStartedTooLateIsNotStarted(t *testing.T) {
	w := newWorld(Config{Members: 1, Hook: Hook{Takes: time.Minute, Late: 1}})
	w.Boot()
	w.events()
	w.startRun(0, false, policy.Time(time.Second), 0)
	w.run(t, time.Hour)
	want := []given{{At: policy.Time(time.Second) + 1, Kind: policy.Finished, Denied: true}}
	if d := cmp.Diff(want, w.events(policy.Finished)); d != "" {
		t.Error(d)
	}
}

// A member that has forgotten finds an empty disk once, and nothing that its agent remembers of the fleet.
func TestAMemberForgetsOnce(t *testing.T) {
	var forgot []bool
	w := newWorld(Config{Members: 2, Watchers: []Watcher{WatcherFunc(func(_ *Cluster, o *Occurrence) error {
		if o.Kind == Came && o.Member == 0 && o.At > 0 {
			forgot = append(forgot, o.Forgot)
		}
		return nil
	})}})
	w.Boot()
	w.saves(5)
	var found []wire.Seq
	for i := range 3 {
		w.Crash(0)
		if i == 1 {
			w.Forget(0)
		}
		w.run(t, time.Second)
		w.Start(0)
		found = append(found, w.Disk(0).Seq)
		if i == 1 && w.members[0].hasSeenOthers {
			t.Error("it knows that it has seen others")
		}
		w.run(t, time.Minute)
	}
	if d := cmp.Diff([]wire.Seq{5, 0, 0}, found); d != "" {
		t.Error("what it finds on its disk:", d)
	}
	if d := cmp.Diff([]bool{false, true, false}, forgot); d != "" {
		t.Error("whether it has forgotten:", d)
	}
}
