package plan

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
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
