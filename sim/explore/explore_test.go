package explore

import (
	"errors"
	"maps"
	"strings"
	"testing"
)

// counter is a world that counts up by one or by two.
type counter struct{ n int }

func search(depth, most int) *Search[counter] {
	return &Search[counter]{
		Depth:   depth,
		Visited: ByKey(func(c *counter) int { return c.n }),
		Judge:   func(*counter) error { return nil },
		Branch: func(c *counter, reach func(*counter, string)) {
			if c.n < most {
				reach(&counter{c.n + 1}, "one")
				reach(&counter{c.n + 2}, "two")
			}
		},
	}
}

func TestEveryStateIsJudgedOnce(t *testing.T) {
	seen := map[int]int{}
	x := search(0, 9)
	x.Judge = func(c *counter) error { seen[c.n]++; return nil }
	if err := x.From(&counter{}); err != nil {
		t.Fatal(err)
	}
	for n := range 11 {
		if seen[n] != 1 {
			t.Errorf("%d is judged %d times", n, seen[n])
		}
	}
	if x.States != len(seen) || x.Deepest != 9 || x.Transitions != 18 {
		t.Errorf("%d states, %d deep, %d transitions", x.States, x.Deepest, x.Transitions)
	}
}

func TestABrokenRuleIsReportedWithTheStepsThatLeadToIt(t *testing.T) {
	wrong := errors.New("wrong")
	x := search(0, 9)
	x.Judge = func(c *counter) error {
		if c.n == 11 {
			return wrong
		}
		return nil
	}
	x.Branch = func(c *counter, reach func(*counter, string)) {
		switch {
		case c.n < 3:
			reach(&counter{c.n + 1}, "one")
		case c.n < 10:
			reach(&counter{c.n + 8}, "eight")
			reach(&counter{c.n + 1}, "never")
		}
	}
	err := x.From(&counter{})
	if !errors.Is(err, wrong) || err.Error() != "wrong, after:\none\none\none\neight" {
		t.Error(err)
	}
	if x.Transitions != 4 {
		t.Errorf("%d transitions: the search goes on after an error", x.Transitions)
	}
}

// A state that is reached with few steps left, and again with more, leads to more states the second time.
func TestAStateIsVisitedAgainWithMoreStepsLeft(t *testing.T) {
	x := search(3, 100)
	if err := x.From(&counter{}); err != nil || x.States != 7 { // 0 to 6
		t.Errorf("%d states, %v", x.States, err)
	}
}

func TestEndSeesTheStatesAfterWhichNothingComes(t *testing.T) {
	for depth, want := range map[int]map[int]bool{0: {10: true, 11: true}, 2: {2: true, 3: true, 4: true}} {
		x, ends := search(depth, 10), map[int]bool{}
		x.End = func(c *counter) error { ends[c.n] = true; return nil }
		if err := x.From(&counter{}); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(ends, want) {
			t.Errorf("depth %d: the ends are %v, want %v", depth, ends, want)
		}
	}
	x := search(0, 10)
	x.End = func(*counter) error { return errors.New("nobody is served") }
	if err := x.From(&counter{}); err == nil || !strings.HasPrefix(err.Error(), "nobody is served, after:\n") {
		t.Error(err)
	}
}
