package tree

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// Family describes the tree to shells and simulator.
func Family() policy.Family {
	return policy.Family{
		ID: 3, Name: "tree", Version: 1, WellFormed: WellFormed,
		Kinds: slices.Concat(handoff.Kinds(), Kinds()), Notes: slices.Concat(handoff.Notes(), Notes()),
	}
}

// WellFormed reports whether m is a message of a tree.
func WellFormed(m *wire.Message) bool {
	if handoff.Owns(m.Kind) {
		return handoff.WellFormed(m)
	}
	return wellFormed(m)
}
