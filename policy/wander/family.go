package wander

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
)

// Family is the soft gate, as shells and simulator know it.
func Family() policy.Family {
	return policy.Family{
		Name: "wander", Version: 1, Notes: slices.Concat(handoff.Notes(), guardian.Notes(), Notes()), Doubt: doubt,
	}
}
