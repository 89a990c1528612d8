package plan

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// inZones is a request with three zones of thirty hosts.
func inZones() Request {
	return Request{
		Members: 90, Op: 5 * time.Minute, Every: 24 * time.Hour, Walk: wander.Sweep, Backups: 2, Seed: 1, Slots: 3,
		Zones: 3, PerZone: 1,
	}
}

// A zone's hosts run one after another, and at worst the whole fleet does.
func TestZonesBoundARound(t *testing.T) {
	const load = 30 * 300. / 86400
	for name, c := range map[string]struct {
		change func(*Request)
		want   Zones
	}{
		"as many tokens as zones": {func(*Request) {}, Zones{30, load, 30 * 300, 90 * 300}},
		"fewer tokens":            {func(w *Request) { w.Slots = 2 }, Zones{30, load, 45 * 300, 90 * 300}},
		"two of a zone":           {func(w *Request) { w.PerZone = 2 }, Zones{30, load / 2, 30 * 300, 45 * 300}},
		"zones that are not even": {func(w *Request) { w.Members = 91 }, Zones{31, load * 31 / 30, 31 * 300, 91 * 300}},
	} {
		w := inZones()
		c.change(&w)
		got := zonesOf(&w)
		if math.Abs(got.Load-c.want.Load) < 1e-9 {
			got.Load = c.want.Load
		}
		if w.check() != nil || *got != c.want {
			t.Errorf("%s: %+v, want %+v (%v)", name, *got, c.want, w.check())
		}
	}
	if w := (Request{Members: 3}); zonesOf(&w) != nil || !zonesOf(&w).suffice() {
		t.Error("bounds of no zones")
	}
}

func TestAPlanSaysWhatZonesCost(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration][]string{
		24 * time.Hour: {
			"that can be met", "the load of a zone is 0.10", "per_zone = 1", "--per-zone 1",
			"With its zones it takes 2h 30m or more, and at worst 7h 30m",
		},
		2 * time.Hour: {"that CANNOT be met", "the load of a zone is 1.25, and above 1"},
	} {
		asked := inZones()
		asked.Every = every
		a, err := planWithin(t.Context(), asked, tinyEffort())
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := a.Text(&b); err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), part) {
				t.Errorf("it does not have %q:\n%s", part, &b)
			}
		}
	}
}

// "Never more than per_zone": in a simulated release, which takes as long as its bounds say, or the walk of the tokens
// longer.
func TestNoMoreOfAZoneRunThanMayInARelease(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Request){
		"one of each": func(*Request) {}, "two of each": func(w *Request) { w.Slots, w.PerZone = 5, 2 },
	} {
		asked := inZones()
		change(&asked)
		w := asked.held()
		k, _ := recommend(&w)
		r := newRollout(&w, 7)
		most, waits := 0, false
		r.c = nightWorld(&w, &k, sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
			err := r.watch(c, o)
			runs := make([]int, w.Zones)
			for i := range r.started {
				if r.started[i] && !r.done[i] {
					runs[r.zones.of[i]]++
				}
				waits = waits || r.zones.putOff[i]
			}
			most = max(most, slices.Max(runs))
			return err
		}))
		r.c.At(0, func() { r.next(0) })
		err := r.c.Run(policy.Time(24 * time.Hour))
		if !errors.Is(err, errOver) || most != w.PerZone || !waits {
			t.Errorf("%s: %d of one zone run at once; some wait: %v; %v", name, most, waits, err)
		}
		z := zonesOf(&w)
		if took := r.last.Sub(0).Seconds(); took < z.Least-w.Op.Seconds() || took > z.Most {
			t.Errorf("%s: it takes %v s, and its bounds are %v s and %v s", name, took, z.Least, z.Most)
		}
	}
}

func TestZonesAreChecked(t *testing.T) {
	for want, change := range map[string]func(w *Request){
		"need each other":           func(w *Request) { w.Zones = 0 },
		"zones is 91: 1 to 90":      func(w *Request) { w.Zones = 91 },
		"it does not matter unless": func(w *Request) { w.PerZone = 3 },
		"lower slots to 2":          func(w *Request) { w.Zones = 2 },
	} {
		w := inZones()
		if change(&w); w.check() == nil || !strings.Contains(w.check().Error(), want) {
			t.Errorf("%v, want %q", w.check(), want)
		}
	}
}
