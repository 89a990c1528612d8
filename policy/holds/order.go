package holds

import (
	"cmp"
	"slices"
)

// Gate is what a gate needs besides its own token.
type Gate struct {
	Name string
	// With are the gates that a run of this one holds, too.
	With []string
	// Zone is the name of the gate of this host's zone, which has as many tokens as hosts of one zone may run at once;
	// empty if zones do not matter.
	Zone string
}

// The order in which gates are taken. A gate that is named in a with has none itself, and nothing is named with the
// gate of a zone. So a run that waits at a later rank holds nothing for which one at an earlier rank waits.
const (
	rankWith = iota
	rankPlain
	rankZone
)

// Order returns the named gates with those that they need, each once, in the order in which every host takes them:
// gates with others, then plain gates, then gates of zones; each of these by name. find finds a gate by its name, and
// missing is the first that it does not find.
func Order(named []string, find func(name string) (Gate, bool)) (gates []string, missing string) {
	rank := make(map[string]int)
	add := func(name string, r int) {
		if _, is := rank[name]; !is {
			rank[name], gates = r, append(gates, name)
		}
	}
	var visit func(name string) string
	visit = func(name string) string {
		if _, is := rank[name]; is {
			return ""
		}
		g, is := find(name)
		if !is {
			return name
		}
		r := rankPlain
		if len(g.With) > 0 {
			r = rankWith
		}
		add(name, r)
		if g.Zone != "" {
			add(g.Zone, rankZone)
		}
		for _, other := range g.With {
			if lacks := visit(other); lacks != "" {
				return lacks
			}
		}
		return ""
	}
	for _, name := range named {
		if missing = visit(name); missing != "" {
			return nil, missing
		}
	}
	slices.SortFunc(gates, func(a, b string) int { return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(a, b)) })
	return gates, ""
}
