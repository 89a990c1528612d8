package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/window"
)

func nightly(t *testing.T, text string) window.Set {
	t.Helper()
	w, err := window.Parse(text, func(string) (*time.Location, error) { return time.UTC, nil })
	if err != nil {
		t.Fatal(err)
	}
	return window.Set{w}
}

// Eight hours hold 160 runs of three minutes. The runs vary, and the token takes time to walk, so somewhat fewer fit
// in.
func TestAPlanSaysWhetherEverybodyGetsATurnPerNight(t *testing.T) {
	deep.Only(t, "simulates many nights")
	for members, met := range map[int]bool{140: true, 200: false} {
		a, err := Plan(t.Context(), Request{
			Members: members, Op: 3 * time.Minute, Every: 24 * time.Hour, Walk: 2, Seed: 1,
			Windows: nightly(t, "22:00-06:00 UTC"),
		})
		if err != nil {
			t.Fatal(err)
		}
		n := a.Nights
		if a.Met != met || n == nil || n.suffice() != met || n.Simulated != mostNights || n.Fits != 160 {
			t.Errorf("%d members: met %v, %+v", members, a.Met, n)
		}
		if a.Constants.MinInterval != 16*time.Hour || !strings.Contains(a.TOML, `window = "22:00-06:00 UTC"`) {
			t.Errorf("the configuration is\n%s", a.TOML)
		}
		if text := n.text(); strings.HasPrefix(text, "NOT") == met {
			t.Errorf("%d members: %s", members, text)
		}
	}
}

func TestWithoutWindowsThereAreNoNights(t *testing.T) {
	for _, s := range []window.Set{nil, nightly(t, "00:00-24:00")} {
		if n := nightsOf(s); n != nil {
			t.Errorf("%v: %+v", s, n)
		}
	}
}

func TestTheFirstNightIsAWholeOne(t *testing.T) {
	list := nightsOf(nightly(t, "22:00-06:00"))
	if first := list[0]; first.opens.Sub(0) != 22*time.Hour || first.closes.Sub(first.opens) != 8*time.Hour ||
		first.next.Sub(first.opens) != 24*time.Hour {
		t.Errorf("%+v", first)
	}
}
