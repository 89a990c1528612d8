package plan

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/policy/wander"
)

// changed returns the request with a change made.
func changed(w Request, c Change) Request {
	switch c.Parameter {
	case "walk":
		w.Walk = wander.Sweep
	case "slots":
		w.Slots = int(c.Value)
	case "members":
		w.Members = int(c.Value)
	case "op":
		w.Op = parsed(c)
	case "every":
		w.Every = parsed(c)
	case "skip":
		w.Skip = parsed(c)
	}
	return w
}

// parsed reads a change as the command line would.
func parsed(c Change) time.Duration {
	d, err := time.ParseDuration(c.To)
	if err != nil {
		panic(err)
	}
	return d
}

// harder returns the request again, a little nearer to the original one.
func harder(w Request, parameter string) Request {
	switch parameter {
	case "slots":
		w.Slots--
	case "members":
		w.Members++
	case "op":
		w.Op += grain(w.Op) + 1
	case "every":
		w.Every -= grain(w.Every) + 1
	case "skip":
		w.Skip += grain(w.Skip) + 1
	}
	return w
}

func TestEachChangeIsEnoughAndTheSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawRequest(t)
		if k, fits := recommend(&w); !fits {
			checkChanges(t, w, changes(&w, k.Skip), k.Skip)
		}
	})
	w := Request{Members: 150, Op: 4 * time.Second, Every: 15 * time.Minute, Skip: 4 * time.Second}
	all := changes(&w, w.Skip)
	checkChanges(t, w, all, w.Skip)
	if len(all) != 6 {
		t.Errorf("got %v, want one for each parameter", all)
	}
}

func checkChanges(t rapid.TB, w Request, all []Change, skip time.Duration) {
	t.Helper()
	for _, c := range all {
		better := changed(w, c)
		worse := harder(better, c.Parameter)
		withSkip := func(w Request) time.Duration {
			if c.Parameter == "skip" {
				return w.Skip
			}
			return skip
		}
		if !feasible(&better, withSkip(better)) {
			t.Errorf("with %v it still does not fit", c)
		}
		if _, fits := recommend(&better); !fits {
			t.Errorf("with %v nothing that fits is recommended", c)
		}
		if c.Parameter != "walk" && feasible(&worse, withSkip(worse)) {
			t.Errorf("%v is not the smallest: %+v would do", c, worse)
		}
	}
}

func TestASkipIsOnlyChangedWhereItWasGiven(t *testing.T) {
	w := Request{Members: 150, Op: 4 * time.Second, Every: 15 * time.Minute, Skip: 4 * time.Second}
	last := func() string {
		k, _ := recommend(&w)
		all := changes(&w, k.Skip)
		return all[len(all)-1].String()
	}
	if got, want := last(), "a shorter skip: 2.03s instead of 4s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	w.Skip, w.Every = 0, 9*time.Minute
	if got, want := last(), "a longer every: 10m10s instead of 9m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
