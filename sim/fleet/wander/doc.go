// Package wander knows fleets of the wandering token: what they are made of, and the rules that are theirs alone.
//
// A [Scenario] is every parameter of one run. [Draw] lets a seed draw all of them, also which kinds of faults there are, and
// [Scenario.Impossible] names those that cannot be. [Scenario.Measure] lets a fleet live for a given time, faults and all, with nobody
// watching but who measures. [Scenario.Explore] looks for bugs: first things go wrong, with every checker on, then all is healed and
// the fleet has to make progress within a bound. A [Coverage] counts what has ever occurred.
//
// Besides the rules of package check, one each in a file of its own: check_removal.go (the older token survives), check_birth.go (a new
// token is younger than those before it), check_guard.go (a token is revived by a member that has asked, and no removed one is),
// check_beat.go (a holder keeps its guardians calm), check_muster.go (a token has its guardians from the first moment),
// check_inquiry.go and check_hearsay.go (none is made without asking, and what is told is true), check_silence.go, check_deaf.go,
// check_due.go, check_missed.go (nobody is left out), check_slots.go (one record for several tokens).
//
// The tests explore small worlds to the end (explore_test.go), tell one story for each situation worth knowing (script_test.go,
// testdata), and make sure that known-bad variants of the protocol are caught (mutants_test.go, testdata/mutants, docs/mutants.md).
// [Stories] are those that the README shows.
//
// It is about the soft gate only, never presents what it finds, and never reaches into a machine: it goes by what every shell is told.
package wander
