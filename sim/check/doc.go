// Package check has the rules that hold for every protocol. Each rule is a [sim.Watcher] in a file of its own, which
// returns an error when its rule is broken.
//
// The checkers judge by effects, messages and [policy.Machine]'s Status, never by a machine's insides, and import no
// protocol. They never measure, and never change what they watch.
//
// A revived token has the identity of the lost one, which may turn up again. So the rule that nothing is in two places
// at once is about copies of a token: [Copies] follows each copy from hand to hand, from when it was made or revived,
// and tells which of them a member holds.
//
// The constructors of watchers that range over effects are marked go:noinline: the compiler copies one that is inlined
// into another package without inlining what its loops call, and each loop then allocates. A hunt takes twice the time.
package check
