package ring

import "github.com/wanderd/wanderd/policy"

// Family is the token ring, as shells and simulator know it.
func Family() policy.Family {
	return policy.Family{ID: 2, Name: "ring", Version: 1, Kinds: Kinds(), Notes: Notes(), WellFormed: WellFormed}
}
