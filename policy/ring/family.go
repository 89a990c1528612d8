package ring

import "github.com/wanderd/wanderd/policy"

// Family is the token ring, as shells and simulator know it.
func Family() policy.Family {
	return policy.Family{Name: "ring", Version: 1, Notes: Notes(), WellFormed: WellFormed}
}
