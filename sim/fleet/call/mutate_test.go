package call

import (
	"reflect"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/mutate"
	"github.com/wanderd/wanderd/sim/reduce"
)

// Whatever is changed, and however often, a scenario is another one, fit for a run, and the same when it is read from a
// file.
func TestAChangedScenarioIsFitForARun(t *testing.T) {
	for seed := range deep.Of[uint64](500, 500, 20_000) {
		d := sim.NewDice(seed, 1)
		s := Draw(seed)
		for range 6 {
			next := mutate.Change[Scenario](s, Draw(d.Uint64()>>1), time.Duration(d.Share(1, 1e12)), d)
			if err := next.Check(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if reflect.DeepEqual(next, s) {
				t.Fatalf("seed %d: nothing is changed", seed)
			}
			s = next
		}
		var read Scenario
		content, err := reduce.Decode(reduce.Text("changed", Kind, &s))
		if err == nil {
			err = reduce.Read(content, &read)
		}
		if err != nil || reduce.Text("", Kind, &read) != reduce.Text("", Kind, &s) {
			t.Fatalf("seed %d: %v\n%s", seed, err, reduce.Text("changed", Kind, &s))
		}
	}
}

// Until its seed changes a run is the same as without that.
func TestAnotherSeedChangesARunFromThenOn(t *testing.T) {
	const at = 5 * time.Second
	s := Draw(2)
	s.Duration = max(s.Duration, 4*at)
	told := func(s Scenario) (all []sim.Occurrence) {
		_ = s.Explore(sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
			all = append(all, sim.Occurrence{Kind: o.Kind, At: o.At, Member: o.Member})
			return nil
		}))
		return all
	}
	one := told(s)
	s.Reseed = sim.Reseed{At: at, Seed: 77}
	two := told(s)
	same := 0
	for same < min(len(one), len(two)) && reflect.DeepEqual(one[same], two[same]) {
		same++
	}
	if same == len(one) || one[same].At < policy.Time(at) || same == 0 {
		t.Errorf("%d occurrences are the same, of %d and %d", same, len(one), len(two))
	}
}
