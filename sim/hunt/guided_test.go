package hunt

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/sim"
	calling "github.com/wanderd/wanderd/sim/fleet/call"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/reduce"
)

// resumes is a rule that breaks when a fleet whose random choices have changed meanwhile has run for a second. No drawn
// fleet breaks it.
func resumes(s *calling.Scenario, watchers ...sim.Watcher) (o wandering.Outcome) {
	explore := counted((*calling.Scenario).Explore)
	return explore(s, append(watchers, sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if s.Reseed.At > 0 && o.At > policy.Time(s.Reseed.At+time.Second) {
			return errors.New("planted: it goes on")
		}
		return nil
	}))...)
}

func planted() Subject {
	return marked(called(), call.Marks(), calling.Draw, resumes)
}

// worldsOf are the marks, and the failure, of a guided hunt.
func worldsOf(r *Report) string {
	return fmt.Sprint(r.Seeds, r.Steps, r.Simulated, r.Kept, r.Marks.Pairs(), r.Names.Never(r.Marks), r.Failure)
}

func TestAGuidedHuntIsTheSameWithAnyNumberOfWorkers(t *testing.T) {
	for name, subject := range map[string]Subject{"sound": called(), "planted": planted()} {
		t.Run(name, func(t *testing.T) {
			o := Options{Subject: subject, Guided: true, From: 11, Seeds: deep.Of[uint64](40, 80, 200), Workers: 1}
			one := Run(t.Context(), o)
			o.Workers = 5
			if d := cmp.Diff(worldsOf(one), worldsOf(Run(t.Context(), o))); d != "" {
				t.Error(d)
			}
			if (one.Failure == nil) != (name == "sound") || one.Kept == 0 {
				t.Errorf("%d worlds are kept, failure %v", one.Kept, one.Failure)
			}
		})
	}
}

func TestAGuidedHuntGoesOn(t *testing.T) {
	o := Options{Subject: called(), Guided: true, Seeds: 2 * batch}
	whole := Run(t.Context(), o)
	o.Seeds = batch
	first := Run(t.Context(), o)
	o.After = first
	second := Run(t.Context(), o)
	if first.Seeds+second.Seeds != whole.Seeds || first.Steps+second.Steps != whole.Steps ||
		second.Kept != whole.Kept || second.Kept <= first.Kept {
		t.Errorf("%d and %d worlds, %d and %d steps, %d kept; in one %d, %d, %d", first.Seeds, second.Seeds,
			first.Steps, second.Steps, second.Kept, whole.Seeds, whole.Steps, whole.Kept)
	}
}

// What a guided hunt has found is a scenario that breaks the same rule when it is read from a file, and so does the
// smaller one.
func TestAGuidedFindingIsReplayedFromItsFile(t *testing.T) {
	r := Run(t.Context(), Options{Subject: planted(), Guided: true, Seeds: 1000})
	f := r.Failure
	if f == nil || f.World <= batch {
		t.Fatalf("the first worlds are drawn, and break no rule: %v", f)
	}
	for _, text := range []string{f.Scenario, f.Smaller()} {
		content, err := reduce.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		var s calling.Scenario
		if err := reduce.Read(content, &s); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if err := resumes(&s).Err; err == nil || err.Error() != f.Err.Error() {
			t.Errorf("%v, want %v\n%s", err, f.Err, text)
		}
	}
	for _, want := range []string{
		fmt.Sprintf("wanderd sim hunt --policy call --guided --seed 1 --seeds %d\n", f.World),
		fmt.Sprintf("seed 1, world %d: planted: it goes on\n", f.World),
	} {
		if !strings.Contains(f.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, f)
		}
	}
}

// A world is kept if it has reached a pair of marks that none before has.
func TestOnlyAWorldWithANewPairIsKept(t *testing.T) {
	f := called()
	g, ok := f.guided(&f, 1).(*guide[calling.Scenario, *calling.Scenario])
	if !ok {
		t.Fatal("it is another kind of guide")
	}
	r := Run(t.Context(), Options{Subject: f, Seeds: 1})
	one := func() *ran { return &ran{marks: r.Marks} }
	r = &Report{Marks: r.Marks}
	bad := one()
	bad.outcome.Err = errors.New("planted")
	for i, each := range []*ran{one(), one(), bad} {
		g.count(&Report{Marks: r.Marks, Failure: &Failure{}}, calling.Draw(uint64(i)), each)
	}
	if len(g.worlds) != 1 || g.made != 3 || !reflect.DeepEqual(g.worlds[0].scenario, calling.Draw(0)) {
		t.Errorf("of %d worlds, %d are kept", g.made, len(g.worlds))
	}
}
