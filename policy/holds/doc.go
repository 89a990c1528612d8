// Package holds says which gates a run holds besides its own, in which order it takes them, and what ends that.
//
// The run of a gate that needs others begins with a grant of that gate, which comes first in the order of [Order].
// Then it takes the others one after another, as callers of this host. Its operation starts when it holds all of them,
// and all are released when it is over. If one of them does not come in time, nothing starts: all are released, and the
// run is put off.
//
// Everybody takes gates in one order, so nobody waits for a gate whose holder waits for one of his. Where the
// configurations of hosts differ for a while, the bound of the wait ends what would be a deadlock.
//
//	order.go      which gates a run needs, and in which order all hosts take them
//	taking.go     how a run comes to its gates, and whether its operation may start
//	deferral.go   for how long a run that did not get them is put off
//
// Its decisions, in docs/decisions: 105.
package holds
