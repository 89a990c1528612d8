package patterns

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

func TestAPatternHasOneStarAtItsEnd(t *testing.T) {
	for name, want := range map[string]bool{
		"build-*": true, "b*": true, "*": false, "b**": false, "b-*-c": false, "B*": false, "build": false,
		strings.Repeat("x", MostName+1) + "*": false,
	} {
		if IsPattern(name) != want {
			t.Errorf("%q", name)
		}
	}
}

// "The longest pattern wins", and what has no character in place of the star matches nothing.
func TestANameMatchesTheLongestPattern(t *testing.T) {
	list := New([]gate.Config{{Name: "b-*"}, {Name: "b-x-*"}, {Name: "other"}})
	if len(list) != 2 {
		t.Fatalf("%d", len(list))
	}
	for name, want := range map[string]string{
		"b-1": "b-*", "b-x-1": "b-x-*", "b-x-": "b-*", "b-": "", "other": "", "b-*": "", "b-A": "", "": "",
	} {
		got := ""
		if p := Matching(list, name); p != nil {
			got = p.Config.Name
		}
		if got != want {
			t.Errorf("%q matches %q, want %q", name, got, want)
		}
	}
	id := wire.GateIDIn(list[0].ID, "b-1")
	if p := Of(list, id); p != list[0] || id == list[0].ID || id == wire.GateIDIn(list[0].ID, "b-2") {
		t.Error("a gate is not known as one of its pattern")
	}
	if Of(list, list[0].ID) != nil || Of(list, wire.GateIDOf("other")) != nil {
		t.Error("a gate with an own name is one of a pattern")
	}
	if c := list[0].Gate(id, ""); IsName(c.Name) || c.Pattern != "b-*" || c.ID != id {
		t.Errorf("%+v", c)
	}
}

// A machine hears of the largest fleet of the last ten minutes, and then of the present one.
func TestALargerFleetIsRemembered(t *testing.T) {
	ids := []wire.MemberID{{1}, {2}, {3}, {4}, {5}}
	p := New([]gate.Config{{Name: "b-*"}})[0]
	for _, step := range []struct {
		at   time.Duration
		n    int
		want []int
		news bool
	}{
		{1, 3, []int{3}, true},
		{2, 5, []int{5}, true},
		{3, 5, []int{5}, false},
		{4, 2, []int{5, 2}, true},
		{5, 3, []int{5, 3}, true},
		{6 + 10*60, 2, []int{3, 2}, true},
		{7 + 20*60, 2, []int{3, 2}, false},
		{8 + 20*60, 3, []int{3}, true},
	} {
		now := policy.Instant{Time: policy.Time(step.at * time.Second)}
		if news := p.See(now, ids[:step.n]); news != step.news {
			t.Errorf("at %d: %v", step.at, news)
		}
		var got []int
		for _, s := range p.Sights() {
			got = append(got, len(s.Members))
		}
		if len(got) != len(step.want) || got[0] != step.want[0] || got[len(got)-1] != step.want[len(got)-1] {
			t.Errorf("at %d: %v, want %v", step.at, got, step.want)
		}
	}
}
