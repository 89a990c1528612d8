package compare

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/lab/study"
)

// Every contender serves a fleet, under every fault, and a run depends on nothing but its seed.
func TestEveryContenderServes(t *testing.T) {
	for _, c := range contenders() {
		for _, f := range []fault{noFault, ofCrashes, ofLoss} {
			k := course{contender: c, members: 12, load: 1, fault: f}
			first, err := live(t.Context(), &k, 1)
			if err != nil {
				t.Fatal(err)
			}
			if first.Busy < 0.3 || first.Overlap > 0.02 || first.Runs < 100 {
				t.Errorf("%s, %s: %+v", c.name, f, first.Served)
			}
			if f == ofCrashes != (len(first.recoveries) == crashes) {
				t.Errorf("%s, %s: %d recoveries", c.name, f, len(first.recoveries))
			}
			if second, _ := live(t.Context(), &k, 1); second.Served != first.Served {
				t.Errorf("%s, %s: with the same seed %+v, then %+v", c.name, f, first.Served, second.Served)
			}
		}
	}
}

// Advice is judged by the figures: contrary figures do not bear it out.
func TestAdviceIsJudged(t *testing.T) {
	list := make([]measured, len(courses()))
	all := courses()
	for i := range list {
		list[i] = measured{course: &all[i], p50: 1, p99: 1, messages: 1, busy: 0.5, recovery: 1}
	}
	holds, _ := advice(list)
	for i, h := range holds {
		if h {
			t.Errorf("sentence %d holds where all are equal", i)
		}
	}
}

func TestThePageHasItsExperiments(t *testing.T) {
	page := Page()
	if len(page.Experiments) != 2 || page.Name != "compare" {
		t.Errorf("%+v", page)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, _ := page.Experiments[0].Run(ctx, study.Options{})
	if judged := r.Figures["sentences"]; len(r.Tables) != 12 || len(r.Plots) != 3 || len(r.Notes) != 4 || judged != 4 {
		t.Errorf("%d tables, %d plots, %d notes; %v sentences are judged", len(r.Tables), len(r.Plots), len(r.Notes),
			judged)
	}
	if r, _ := page.Experiments[1].Run(ctx, study.Options{}); len(r.Tables) != 2 || len(r.Notes) != 3 {
		t.Errorf("%d tables and %d notes of losses", len(r.Tables), len(r.Notes))
	}
}

// A fleet in which nobody asks: a token on call is silent, and a wandering one is not.
func TestAnIdleFleetIsMeasuredWithoutItsStart(t *testing.T) {
	for _, c := range contenders() {
		o, err := live(t.Context(), &course{contender: c, members: 10, load: idle, fault: noFault}, 1)
		moves := strings.HasPrefix(c.name, "wander") || c.name == "ring, always"
		if err != nil || (o.idle > 100) != moves || !moves && o.idle > 0 {
			t.Errorf("%s sends %v a minute: %v", c.name, o.idle, err)
		}
	}
}

// After each kind of kill there is a next run, and a run depends on nothing but its seed.
func TestThereIsANextRunAfterEachKill(t *testing.T) {
	for _, l := range losses() {
		if l.members != 10 {
			continue
		}
		took, err := lose(t.Context(), &l, 1)
		if again, _ := lose(t.Context(), &l, 1); err != nil || took <= 0 || took > 60 || again != took {
			t.Errorf("%s, %s, busy %v: %v, then %v: %v", l.contender.name, l.killed, l.busy, took, again, err)
		}
	}
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1234.5: "1230", 0.012345: "0.0123", 99.96: "100", math.NaN(): "–"} {
		if got := number(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

// The sites of a large roster answer every repetition of a search, and so most of them seem slow where messages are
// lost. That must not stretch the timers of all.
func TestALargeTreeThatLosesMessagesStaysBusy(t *testing.T) {
	for _, c := range courses() {
		if c.contender.name != "tree, fair" || c.fault != ofLoss || c.load != 1 {
			continue
		}
		if o, err := live(t.Context(), &c, 1); err != nil || o.Busy < 0.9 {
			t.Errorf("%d sites are busy for %.2f of the time: %v", c.members, o.Busy, err)
		}
		return
	}
	t.Fatal("the page has no such course")
}
