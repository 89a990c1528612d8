package paper

import "container/heap"

// agenda has the coming events of the model, by time, then in the order of insertion. It implements [heap.Interface].
type agenda struct {
	all   []appointment
	asked int
}

type appointment struct {
	at    float64
	asked int
	who   int
	// departs: the token leaves the member. Otherwise the member's Δgen may be over.
	departs bool
}

func (g *agenda) add(at float64, who int, departs bool) {
	g.asked++
	heap.Push(g, appointment{at, g.asked, who, departs})
}

// Len and the others implement [heap.Interface].
func (g *agenda) Len() int      { return len(g.all) }
func (g *agenda) Swap(i, j int) { g.all[i], g.all[j] = g.all[j], g.all[i] }
func (g *agenda) Push(x any)    { g.all = append(g.all, x.(appointment)) }

func (g *agenda) Less(i, j int) bool {
	a, b := &g.all[i], &g.all[j]
	return a.at < b.at || a.at == b.at && a.asked < b.asked
}

func (g *agenda) Pop() any {
	last := len(g.all) - 1
	x := g.all[last]
	g.all = g.all[:last]
	return x
}
