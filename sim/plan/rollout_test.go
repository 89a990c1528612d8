package plan

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
)

// paced is a request with stages and a soak.
func paced() Request {
	return Request{
		Members: 100, Op: 30 * time.Second, Every: 7 * 24 * time.Hour, Walk: wander.Sweep, Backups: 2, Seed: 1,
		Soak: 150 * time.Second, First: []int{2, 20},
	}
}

func rolledOut(t *testing.T, asked Request) (w Request, r *Rollout) {
	t.Helper()
	if err := asked.check(); err != nil {
		t.Fatal(err)
	}
	w = asked.held()
	k, _ := recommend(&w)
	r, err := simulateRollouts(t.Context(), &w, &k)
	if err != nil || r == nil || r.Finished != mostRollouts {
		t.Fatalf("%+v, %v", r, err)
	}
	return w, r
}

// A release takes as long as its runs and soaks, one after the other, and the walk of the token to each stage. It takes
// as long with stages as without, but for that walk.
func TestAReleaseTakesWhatItsRunsTake(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Request){
		"stages":                 func(*Request) {},
		"no stages":              func(w *Request) { w.First = nil },
		"a random walk":          func(w *Request) { w.Walk, w.Skip = wander.Random, time.Second },
		"two slots":              func(w *Request) { w.Slots = 2 },
		"max_down, nobody fails": func(w *Request) { w.MaxDown = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := paced()
			change(&asked)
			w, r := rolledOut(t, asked)
			k, _ := recommend(&w)
			// In the worst case the token visits everybody before it finds the last one of a stage.
			walk := float64(len(r.Stages)) * newTheory(&w, w.Members, k.Skip).lap(0)
			if least := w.leastRound(); r.Mean < 0.95*least || r.Longest > 1.15*least+walk || r.OpenSeen != 1 {
				t.Errorf("%v s, at most %v s; in theory %v s and walks of %v s: %+v", r.Mean, r.Longest, least, walk, r)
			}
			if !slices.IsSortedFunc(r.Stages, func(a, b RolloutStage) int { return int(a.Mean - b.Mean) }) {
				t.Errorf("%+v", r.Stages)
			}
			if len(r.Stages) == 3 && asked.Slots == 0 && (r.Stages[0].Mean < 300 || r.Stages[1].Mean < 22*160) {
				t.Errorf("the stages end too early: %+v", r.Stages)
			}
		})
	}
}

// "What max_down costs under churn": what the simulation sees is what the theory of independent hosts says, and a
// release takes longer by that.
func TestWhatMaxDownCosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		maxDown int
		fails   time.Duration
		down    time.Duration
	}{
		{1, 20 * 24 * time.Hour, time.Hour},
		{2, 10 * 24 * time.Hour, 2 * time.Hour},
		{3, 5 * 24 * time.Hour, 2 * time.Hour},
	} {
		asked := paced()
		asked.First, asked.MaxDown, asked.FailsEvery, asked.DownFor = nil, c.maxDown, c.fails, c.down
		w, r := rolledOut(t, asked)
		if math.Abs(r.Open-r.OpenSeen) > 0.1 || r.Open > 0.95 || r.Open < 0.3 {
			t.Errorf("%+v: open for %.3f of the time, seen %.3f", c, r.Open, r.OpenSeen)
		}
		if in := w.leastRound() / r.OpenSeen; r.Mean < 0.8*in || r.Mean > 1.3*in {
			t.Errorf("%+v: it takes %v s, in theory %v s", c, r.Mean, in)
		}
	}
}

// A night that is too short for all stages is not enough: the release goes on in the next one.
func TestAReleaseGoesOnInTheNextNight(t *testing.T) {
	t.Parallel()
	for window, nights := range map[string]int{"22:00-06:00 UTC": 1, "22:00-01:30 UTC": 2} {
		asked := paced()
		asked.Windows = nightly(t, window)
		if _, r := rolledOut(t, asked); r.Nights[nights] != mostRollouts {
			t.Errorf("%s: %+v", window, r)
		}
	}
}

func TestAPlanSaysHowAReleaseGoes(t *testing.T) {
	t.Parallel()
	asked := paced()
	asked.MaxDown, asked.FailsEvery, asked.DownFor = 2, 10*24*time.Hour, 2*time.Hour
	a, err := planWithin(t.Context(), asked, tinyEffort())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := a.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"a soak of 2m30s", `soak = "2m30s"`, "max_down = 2", "--soak 2m30s", "--max-down 2", "a release comes",
		"stage 1 (2) after", "stage 2 (20) after", "With a host down every 240h for 2h", "hook_timeout = \"1m30s\"",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
			t.Errorf("it does not have %q:\n%s", want, &text)
		}
	}
	plain := paced()
	plain.Soak, plain.First = 0, nil
	if a, err := planWithin(t.Context(), plain, tinyEffort()); err != nil || a.Rollout != nil {
		t.Errorf("%+v, %v", a.Rollout, err)
	}
}

func TestStagesAndMaxDownAreChecked(t *testing.T) {
	for want, change := range map[string]func(w *Request){
		"none are left":              func(w *Request) { w.First = []int{99, 1} },
		"a stage of 0":               func(w *Request) { w.First = []int{0} },
		"9 stages":                   func(w *Request) { w.First = slices.Repeat([]int{1}, 9) },
		"max_down is 1":              func(w *Request) { w.MaxDown, w.Slots = 1, 2 },
		"need each other":            func(w *Request) { w.MaxDown, w.FailsEvery = 1, time.Hour },
		"it needs that":              func(w *Request) { w.FailsEvery, w.DownFor = time.Hour, time.Hour },
		"due again before":           func(w *Request) { w.Soak = 8 * 24 * time.Hour },
		"soak is -1s: a duration up": func(w *Request) { w.Soak = -time.Second },
	} {
		w := paced()
		if change(&w); w.check() == nil || !strings.Contains(w.check().Error(), want) {
			t.Errorf("%v, want %q", w.check(), want)
		}
	}
}
