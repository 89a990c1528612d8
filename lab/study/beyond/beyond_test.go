package beyond

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim/measure"
)

// brief returns the cells of an experiment with that many members, with shorter and fewer runs, and without the cells
// of the paper's rules.
func brief(cells []cell, members, seeds, faults int) []cell {
	var few []cell
	for _, c := range cells {
		if ours(&c.rules) && c.members == members {
			c.duration, c.seeds, c.faults = 10_000*time.Second, seeds, faults
			few = append(few, c)
		}
	}
	return few
}

// runAll runs cells.
func runAll[T any](t *testing.T, o study.Options, cells []cell,
	run func(context.Context, *cell, uint64) (T, error),
) [][]T {
	t.Helper()
	var all [][]T
	e := study.Surveyed("", cells, (*cell).seedsOf, run, func(runs [][]T) study.Result {
		all = runs
		return study.Result{}
	})
	if _, err := e.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return all
}

func measured(t *testing.T, cells []cell) []line {
	t.Helper()
	return lines(cells, runAll(t, study.Options{}, cells, live))
}

// of returns the survey with that name.
func of(name string) survey {
	for _, s := range surveys() {
		if s.name == "beyond-"+name {
			return s
		}
	}
	panic("there is no survey " + name)
}

func TestWithoutFaultsNothingOverlapsAndASweepIsAsGoodAsCanBe(t *testing.T) {
	all := measured(t, slices.Concat(brief(of("calm").cells, study.Nominal, 2, 0),
		brief(of("calm").cells, study.Overload, 1, 0)))
	for i := range all {
		l := &all[i]
		s, b := l.steady(), l.best()
		if s.overlap > 0 || s.made > 0 || s.revived > 0 {
			t.Errorf("%s: two at once %v of the time; made %v, revived %v", l.label(), s.overlap, s.made, s.revived)
		}
		// On the random walk there are also the questions of members that have waited for long.
		if slack := s.allowed / 100; s.perHandoff > s.allowed+slack {
			t.Errorf("%s: %v messages per handoff, and %v are allowed", l.label(), s.perHandoff, s.allowed)
		}
		if l.rules.walk != wander.Sweep {
			continue
		}
		if s.busy < 0.99*b.busy || s.longest > 1.05*b.interval.Seconds() {
			t.Errorf("%s: busy %v, longest interval %v s; the best are %v", l.label(), s.busy, s.longest, b)
		}
	}
}

func TestALostTokenIsBackWithinTwoSkipsAndAHalf(t *testing.T) {
	deep.Only(t, "measures days of fleets")
	cells := slices.Concat(brief(of("calm").cells, study.Nominal, 1, 5), brief(of("loads").cells, 15, 1, 5))
	for _, l := range measured(t, cells) {
		for what := range faultsEnd {
			r := l.recovered(what)
			limit := 2.5 * study.Skip.Seconds()
			if r.count != l.faults || r.never > 0 || !(float64(r.single.Max) <= limit) ||
				!(float64(r.held.Max) <= limit) {
				t.Errorf("%v, %s: %+v", what, l.label(), r)
			}
			if what != crashedBoth && !(float64(r.held.P50) <= 1.5*study.Skip.Seconds()) {
				t.Errorf("%v, %s: %v s in the median", what, l.label(), r.held.P50)
			}
		}
		if mean, _ := l.crowded(); mean > 0 {
			t.Errorf("%s: two at once for %v s", l.label(), mean)
		}
	}
}

func TestUnderThePapersRulesALossTakesLong(t *testing.T) {
	c := cells(world{}, 30)[0]
	c.duration, c.seeds, c.faults = time.Second, 1, 3
	l := measured(t, []cell{c})[0]
	for _, what := range c.rules.faults() {
		// No member makes a token before it has waited for Δmax, and every member has had one in the last five minutes.
		if r := l.recovered(what); r.count != 3 || !(r.held.P50 > 1200) || !(r.single.P50 >= r.held.P50) {
			t.Errorf("%v: %+v", what, r)
		}
	}
}

func TestLossCrashesAndBrokenLinksMakeHardlyAnythingOverlap(t *testing.T) {
	deep.Only(t, "measures days of fleets")
	for _, s := range []survey{of("loss"), of("crashes"), of("links")} {
		for _, l := range measured(t, brief(s.cells, study.Nominal, 2, 0)) {
			got := l.steady()
			// In a few short runs, one overlapping operation has much weight.
			if got.overlap > 10*accepted {
				t.Errorf("%s: two at once %v of the time", l.where(), got.overlap)
			}
			if s.name == "beyond-links" && l.rules.walk == wander.Sweep &&
				got.longest > 1.1*l.best().interval.Seconds() {
				t.Errorf("%s: somebody waited for %v s", l.where(), got.longest)
			}
		}
	}
}

func TestBothHalvesOfAPartedFleetGoOnAndOneTokenIsLeft(t *testing.T) {
	deep.Only(t, "measures days of fleets")
	all := cells(world{}, study.Nominal)
	for i, runs := range runAll(t, study.Options{Seeds: 2}, all, part) {
		for _, p := range runs {
			if all[i].rules.isPaper() {
				continue
			}
			if limit := all[i].best().interval*3 + time.Minute; p.both < 0 || p.both > limit ||
				p.during.Tokens.Live.At(2) == 0 {
				t.Errorf("%s: both halves had a token after %v", all[i].label(), p.both)
			}
			if p.single <= 0 || p.single > time.Minute {
				t.Errorf("%s: one token was left after %v", all[i].label(), p.single)
			}
		}
	}
}

func TestAResultDoesNotDependOnTheNumberOfCores(t *testing.T) {
	s := of("calm")
	s.cells = brief(s.cells, study.Nominal, 2, 1)[:2]
	var texts []string
	for _, cores := range []int{1, 3} {
		r, err := s.experiment().Run(t.Context(), study.Options{Parallel: cores})
		if err != nil || r.Runs != 4 || r.Wanted != 4 {
			t.Fatalf("%d of %d runs, %v", r.Runs, r.Wanted, err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Errorf("one core\n%s\nthree cores\n%s", texts[0], texts[1])
	}
}

// If nothing was run, no target is reported as met.
func TestAnExperimentThatIsCancelledAtOnceMeetsNoTarget(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range Page().Experiments {
		if !strings.HasPrefix(e.Name, "beyond-") {
			t.Errorf("%s is on the wrong page", e.Name)
		}
		r, _ := e.Run(ctx, study.Options{})
		if r.Verdict == "" || strings.HasPrefix(r.Verdict, "all") || len(r.Tables) == 0 {
			t.Errorf("%s: nothing was run, and the verdict is %q, with %d tables", e.Name, r.Verdict, len(r.Tables))
		}
	}
}

func TestAllowedMessagesAreThoseOfTheHandoffItsGuardiansAndTheirHeartbeats(t *testing.T) {
	f := measure.Figures{Duration: 100, Hops: 20, Operations: 10, Messages: 500}
	// One token, held all the time: five seconds after each handoff.
	f.Tokens.Live = measure.Table[measure.Number]{{Key: 0, Value: 0}, {Key: 1, Value: 100}}
	l := line{cell: cell{rules: allRules()[3]}, outcomes: []outcome{{figures: f}}}
	if s := l.steady(); s.perHandoff != 25 || s.perRun != 50 || s.allowed != 3+2+1+4*2*5 {
		t.Errorf("%+v", s)
	}
	l.rules = allRules()[0]
	if s := l.steady(); s.allowed != 3 {
		t.Errorf("%+v", s)
	}
}
