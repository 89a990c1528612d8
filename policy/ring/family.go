package ring

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/kcopies"
)

// Family describes the token ring to shells and simulator.
func Family() policy.Family {
	return policy.Family{
		ID: 2, Name: "ring", Version: 1,
		Kinds:      slices.Concat(handoff.Kinds(), kcopies.Kinds(), Kinds()),
		Notes:      slices.Concat(handoff.Notes(), kcopies.Notes(), Notes()),
		WellFormed: WellFormed,
	}
}
