// Package check has the rules that hold for every protocol. Each is a [sim.Watcher] in a file of its own that objects when its rule is
// broken:
//
//	handoff.go    no token is held twice
//	commit.go     a Commit that was lost is repeated
//	custody.go    no token comes from nowhere or vanishes without a reason
//	seq.go        fencing numbers rise
//	grant.go      no run without a grant that was saved
//	interval.go   Δmin
//	brake.go      so many hosts that fail in a row pause the gate
//	order.go      no run under an order that its member knows; all learn of it
//	ready.go      no run of a host that has not said that it is ready
//	demand.go     on demand nobody runs unasked, and no demand is forgotten
//	message.go    one answer to a message, and none to one that was not expected
//	wake.go       a wake-up before its time does nothing
//	traffic.go    no member sends without bounds
//
// They judge by effects, messages and [policy.Machine]'s Status, never by a machine's insides, and import no protocol. They never
// measure, and never change what they watch.
//
// A revived token has the identity of the lost one, which may turn up again. What must never be in two places is a copy: [Copies]
// follows each from hand to hand, from when it was made or revived, and tells which of them a member holds.
package check
