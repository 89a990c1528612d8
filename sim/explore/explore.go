// Package explore visits every state that a small world can reach: every order of everything that can happen in it, to
// the end or to a depth. A test brings the world, which is a value that it can copy, and the rule that must hold in
// every state. The first state that breaks the rule is reported with the steps that lead to it. The package knows no
// protocol, draws nothing and looks at no clock.
package explore

import (
	"fmt"
	"strings"
)

// Search is a search through the states of a world, depth first. Set its fields before From, and do not change them
// after it.
type Search[S any] struct {
	// Visited reports whether a state was visited before with at least as many steps left, so that it leads to nothing
	// new; otherwise it remembers the visit. known is true if the state was visited before with fewer steps left. ByKey
	// returns such a function.
	Visited func(s *S, left int) (covered, known bool)
	// Branch calls reach for each step that can come next, with a copy of the state after the step and a description of
	// the step. The copy must share nothing with the state that a later step changes.
	Branch func(s *S, reach func(next *S, step string))
	// Judge returns an error for a state that breaks the rule. It sees each state once.
	Judge func(s *S) error
	// End judges a state after which nothing comes, because nothing can or because the search has no steps left. It may
	// change the state. It may be nil.
	End func(s *S) error
	// Depth is the largest number of steps from the first state. Zero explores to the end.
	Depth int

	// States counts the different states, Transitions the steps. Deepest is the largest number of steps in a row.
	States, Transitions, Deepest int

	path []string
	err  error
}

// From explores everything that follows from a state. It returns the first error of Judge or End, with the steps that
// lead to it.
func (x *Search[S]) From(first *S) error {
	x.path, x.err = nil, nil
	x.visit(first, x.Depth)
	if x.err != nil && len(x.path) > 0 {
		return fmt.Errorf("%w, after:\n%s", x.err, strings.Join(x.path, "\n"))
	}
	return x.err
}

func (x *Search[S]) visit(s *S, left int) {
	covered, known := x.Visited(s, left)
	if covered {
		return
	}
	if !known {
		x.States++
		x.Deepest = max(x.Deepest, len(x.path))
		if x.err = x.Judge(s); x.err != nil {
			return
		}
	}
	ended := true
	if x.Depth == 0 || left > 0 {
		x.Branch(s, func(next *S, step string) {
			ended = false
			x.follow(next, step, max(left-1, 0))
		})
	}
	if ended && x.err == nil && x.End != nil {
		x.err = x.End(s)
	}
}

// follow takes one step. If the rule is broken, the path stays as it is.
func (x *Search[S]) follow(next *S, step string, left int) {
	if x.err != nil {
		return
	}
	x.Transitions++
	x.path = append(x.path, step)
	if x.visit(next, left); x.err == nil {
		x.path = x.path[:len(x.path)-1]
	}
}

// ByKey recognises a state by its key, which must contain everything on which the future of the state depends.
func ByKey[S any, K comparable](key func(s *S) K) func(s *S, left int) (covered, known bool) {
	seen := map[K]int32{}
	return func(s *S, left int) (covered, known bool) {
		k := key(s)
		before, known := seen[k]
		if known && int(before) >= left {
			return true, true
		}
		seen[k] = int32(left)
		return false, known
	}
}
