// Package check has the rules that hold for every protocol. Each is a [sim.Watcher] in a file of its own that objects
// when its rule is broken.
//
// They judge by effects, messages and [policy.Machine]'s Status, never by a machine's insides, and import no protocol.
// They never measure, and never change what they watch.
//
// A revived token has the identity of the lost one, which may turn up again. What must never be in two places is a
// copy: [Copies] follows each from hand to hand, from when it was made or revived, and tells which of them a member
// holds.
package check
