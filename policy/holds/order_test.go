package holds

import (
	"strings"
	"testing"
)

// "Gates with others come first, then plain gates, then gates of zones; each of these by name."
func TestAllGatesAreTakenInOneOrder(t *testing.T) {
	gates := map[string]Gate{
		"z": {With: []string{"b", "a"}}, "y": {With: []string{"c"}}, "m": {With: []string{"zoned"}, Zone: "m@x"},
		"zoned": {Zone: "zoned@x"}, "a": {}, "b": {}, "c": {}, "lost": {With: []string{"nowhere"}},
	}
	find := func(name string) (Gate, bool) {
		g, is := gates[name]
		g.Name = name
		return g, is
	}
	for named, want := range map[string]string{
		"a": "a", "b a": "a b", "a b a": "a b", "z": "z a b", "c z": "z a b c", "z y": "y z a b c", "y z": "y z a b c",
		"zoned": "zoned zoned@x", "m": "m zoned m@x zoned@x", "c zoned y": "y c zoned zoned@x",
		"lost": "missing nowhere", "a nobody": "missing nobody",
	} {
		got, missing := Order(strings.Fields(named), find)
		if missing != "" {
			got = []string{"missing", missing}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %s", named, got, want)
		}
	}
}
