// Package wander knows fleets of the wandering token: what they are made of, and the rules that are theirs alone.
//
// A [Scenario] is every parameter of one run. [Draw] lets a seed draw all of them, also which kinds of faults there
// are. [Scenario.Measure] lets a fleet live for a given time, faults and all, with nobody watching but who measures.
// [Scenario.Explore] looks for bugs: first things go wrong, with every checker on, then all is healed and the fleet has
// to make progress within a bound. A [Coverage] counts what has ever occurred.
//
// Besides the rules of package check it has those of the wandering token, one each in a file of its own, check_*.go.
// The tests explore small worlds to the end, tell one story for each situation worth knowing (testdata), and make sure
// that known-bad variants of the protocol are caught (testdata/mutants, docs/mutants.md). [Stories] are those that the
// README shows.
//
// It is about the soft gate only, never presents what it finds, and never reaches into a machine: it goes by what every
// shell is told.
//
// Its decisions, in docs/decisions: 082.
package wander
