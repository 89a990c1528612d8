package stages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/bubble"
)

func TestAMemberIsInTheStageOfTheFirstPatternThatMatches(t *testing.T) {
	c := Config{First: []string{"canary-*", "*-eu", "db[12]"}}
	for name, want := range map[string]int{
		"canary-1": 0, "canary-eu": 0, "web-eu": 1, "db1": 2, "db3": 3, "xcanary-1": 3, "": 3,
	} {
		if got := c.Of(name); got != want || c.IsEarly(name) != (want < 3) {
			t.Errorf("%q is in stage %d, want %d", name, got, want)
		}
	}
	if c.Name(0) != "stage 1 (canary-*)" || c.Name(3) != "stage 4 (the rest)" {
		t.Errorf("%s, %s", c.Name(0), c.Name(3))
	}
	var none Config
	if none.Of("x") != 0 || none.IsEarly("x") {
		t.Error("a gate without stages has one")
	}
	for pattern, ok := range map[string]bool{
		"a*": true, "": false, "[a": false, strings.Repeat("a", MostPattern): true,
		strings.Repeat("a", MostPattern+1): false,
	} {
		if err := Check(pattern); (err == nil) != ok {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

func TestWhereAMemberStands(t *testing.T) {
	for _, c := range []struct {
		own  Own
		want Standing
	}{
		{Own{}, Free},
		{Own{Due: true}, Due}, // not asked yet, or the check is broken
		{Own{Due: true, Ready: true}, Due},
		{Own{Due: true, No: true}, Free},
		{Own{Due: true, PausedHere: true}, Free},
		{Own{Runs: true, PausedHere: true, No: true}, Due},
		{Own{Failed: true}, Failed},
		{Own{Failed: true, Due: true}, Failed},
		{Own{Failed: true, No: true}, Free}, // somebody has mended it by hand
		{Own{Failed: true, PausedHere: true}, Free},
	} {
		if got := c.own.Standing(); got != c.want {
			t.Errorf("%+v stands at %v, want %v", c.own, got, c.want)
		}
	}
}

// watched returns a watch of a member that has been due and ready for long enough.
func watched(name string, c Config) *Watch {
	var w Watch
	w.Set(c, name)
	w.See(&Own{Due: true, Ready: true}, time.Now())
	time.Sleep(Settle)
	return &w
}

func TestWhoHoldsAMemberUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := Config{First: []string{"a*", "b*"}, Wait: time.Hour}
		lately, long := -50*time.Minute, -61*time.Minute
		ago := func(d time.Duration) time.Time { return time.Now().Add(d) }
		for _, c := range []struct {
			name   string
			self   string
			others []Member
			want   string
		}{
			{"nobody", "x", nil, ""},
			{"all are free", "x", []Member{{"a1", Free, time.Time{}}, {"b1", Free, time.Time{}}}, ""},
			{"its own stage and later ones", "b1", []Member{{"b2", Due, time.Time{}}, {"x", Failed, time.Time{}}}, ""},
			{"a due one", "b1", []Member{{"a1", Due, time.Time{}}}, "stage 1 (a*): a1 (due, or at it)"},
			{
				"one that has failed", "x",
				[]Member{{"b1", Failed, time.Time{}}},
				"stage 2 (b*): b1 (its last run has failed)",
			},
			{"one that says nothing", "x", []Member{{"b1", Unsaid, time.Time{}}}, "stage 2 (b*): b1 (has not said yet"},
			{
				"one that says what is not known", "x",
				[]Member{{"b1", 77, time.Time{}}},
				"stage 2 (b*): b1 (has not said yet",
			},
			{
				"away for less than the wait", "x",
				[]Member{{"a1", Due, ago(lately)}},
				"stage 1 (a*): a1 (due, or at it; away)",
			},
			{"away for longer", "x", []Member{{"a1", Due, ago(long)}, {"a2", Failed, ago(long)}}, ""},
			{"away, and was not due", "x", []Member{{"a1", Free, ago(lately)}, {"a2", Unsaid, ago(lately)}}, ""},
			{
				"several", "x",
				[]Member{{"b1", Due, time.Time{}}, {"a2", Due, time.Time{}}, {"a1", Failed, time.Time{}}},
				"stage 1 (a*): a1 (its last run has failed), a2 (due, or at it), b1 (due, or at it)",
			},
		} {
			w := watched(c.self, Config{First: []string{"a*", "b*"}, Wait: time.Hour})
			if w.Look(c.others, time.Now()); c.want != "" {
				c.want = "due, and waits for " + c.want
			}
			if got := w.Why(time.Now()); got != c.want && !(c.want != "" && strings.HasPrefix(got, c.want)) {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
		many := watched("x", c)
		var crowd []Member
		for i := range 1000 {
			crowd = append(crowd, Member{fmt.Sprintf("a%03d", i), Due, time.Time{}})
		}
		many.Look(crowd, time.Now())
		if first, more := many.Held(); len(first) != mostNamed || more != 1000-mostNamed ||
			!strings.HasSuffix(many.Why(time.Now()), ", and 995 more") {
			t.Errorf("%v, %d: %s", first, more, many.Why(time.Now()))
		}
	})
}

// A member that has become due listens first: others that became due at the same time have to be heard, and those that
// were asked before it whether they are ready have to be asked again.
func TestAMemberThatIsDueListensFirst(t *testing.T) {
	for name, c := range map[string]struct {
		own  Own
		want time.Duration
	}{
		"due":         {Own{Due: true, Ready: true}, Settle},
		"found ready": {Own{Due: true, Ready: true, Stale: time.Minute}, Settle + time.Minute},
		"ordered":     {Own{Due: true, Ready: true, Stale: time.Minute, Ordered: true}, Settle},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var w Watch
				w.Set(Config{First: []string{"a"}}, "x")
				begun := time.Now()
				w.Look(nil, begun)
				if w.Why(begun) == "" {
					t.Error("it runs before it is due")
				}
				for ; w.Why(time.Now()) != ""; time.Sleep(time.Second) {
					w.See(&c.own, time.Now())
				}
				if took := time.Since(begun); took != c.want {
					t.Errorf("after %v, want %v", took, c.want)
				}
				w.See(&Own{}, time.Now())
				w.See(&c.own, time.Now())
				if w.Why(time.Now()) == "" {
					t.Error("once it was not due, it does not listen again")
				}
			})
		})
	}
}

// What a member announces is news when it changes, and only if somebody waits for it.
func TestAMemberAnnouncesWhatChanges(t *testing.T) {
	for name, early := range map[string]bool{"a1": true, "x": false} {
		var w Watch
		w.Set(Config{First: []string{"a*"}}, name)
		told := 0
		for _, own := range []Own{
			{},
			{},
			{Due: true},
			{Saves: true},
			{Due: true, Runs: true},
			{Runs: true},
			{},
			{Saves: true},
			{Failed: true},
		} {
			if _, news := w.See(&own, time.Now()); news {
				told++
			}
		}
		if want := map[bool]int{true: 4}[early]; told != want {
			t.Errorf("%s: %d times, want %d", name, told, want)
		}
	}
}

// A pattern that matches nobody who is here holds nobody up, and is named.
func TestAPatternThatMatchesNobodyIsNamed(t *testing.T) {
	w := Watch{}
	w.Set(Config{First: []string{"canry-*", "eu-*"}}, "x")
	w.Look([]Member{{"canary-1", Due, time.Time{}}, {"eu-1", Free, time.Time{}}}, time.Now())
	if e := w.Empty(); len(e) != 1 || e[0] != "canry-*" {
		t.Errorf("%q", e)
	}
}
