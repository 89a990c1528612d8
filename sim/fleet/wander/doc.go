// Package wander knows fleets of the wandering token: their parts, and the rules that hold for them alone.
//
// A [Scenario] has every parameter of one run. [Draw] lets a seed draw all of them, including the kinds of faults.
// [Scenario.Measure] lets a fleet live for a given time with its faults; only measurements watch it. [Scenario.Explore]
// looks for bugs: first things go wrong, with every checker on; then everything is healed, and the fleet has to make
// progress within a bound. A [Coverage] counts what has ever occurred.
//
// In addition to the rules of package check it has those of the wandering token, each in a file of its own, check_*.go.
// The tests explore small worlds to the end, run one script for each situation worth knowing (testdata), and make sure
// that known-bad variants of the protocol are caught (testdata/mutants, docs/mutants.md). [Excerpts] are those in the
// README.
//
// The package is about the soft gate only, never presents its findings, and never reaches into a machine: it sees only
// what every shell is told.
//
// Its decisions, in docs/decisions: 082.
package wander
