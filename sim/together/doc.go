// Package together runs hosts with several gates in virtual time: runs that hold more than one, and zones. Each gate is
// a cluster of its own with the machines of the agent, and a run comes to its gates as package policy/holds says.
//
//	world.go      the clusters of the gates, and one time for all of them
//	job.go        a run from the grant of its first gate to the release of all
//	rules.go      what must be true in every state
//	scenario.go   a world that a seed draws
//	strict.go     which of its gates are strict
//	shape.go      upgrades that soak, or wait for others by their shape
//	once.go       upgrades of which one is enough for all
//	explore.go    what happens to hosts, and how long the world lasts
//
// Its decisions, in docs/decisions: 105.
package together
