package paper

import (
	"cmp"
	"slices"
)

// agenda has the coming events of the model, the next one last. Of events at the same time, the one that was added
// first comes first.
type agenda []appointment

type appointment struct {
	at  float64
	who int
	// departs is true if the token leaves the member. Otherwise the member's Δgen may be over.
	departs bool
}

func (g *agenda) add(at float64, who int, departs bool) {
	i, _ := slices.BinarySearchFunc(*g, at, func(a appointment, at float64) int { return cmp.Compare(at, a.at) })
	*g = slices.Insert(*g, i, appointment{at, who, departs})
}

func (g agenda) next() appointment { return g[len(g)-1] }

func (g *agenda) drop() { *g = (*g)[:len(*g)-1] }
