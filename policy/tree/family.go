package tree

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// Family is the tree, as shells and simulator know it.
func Family() policy.Family {
	return policy.Family{Name: "tree", Version: 1, Notes: slices.Concat(handoff.Notes(), Notes()), WellFormed: WellFormed}
}

// WellFormed reports whether m is a message of a tree.
func WellFormed(m *wire.Message) bool {
	if m.Kind.OfHandoff() {
		return handoff.WellFormed(m)
	}
	return wellFormed(m)
}
