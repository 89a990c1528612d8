// Package deep tells which tests are deep.
//
// A deep test checks the same rules as the others, with more: many seeds, mutants, large fleets, long virtual days,
// many runs of real processes. "go test ./..." leaves out the deep ones: it should take three minutes on two cores.
// "make deep" runs them, and so does "make check", which CI runs. What takes too long for every check runs at night:
// the same rules in other forms, and fleets of 10,000 members. "make night" runs it all.
//
// There is one switch, the variable WANDERD_DEEP: "night" stands for all, and any other value except the empty one for
// deep. A variable works for all packages at once, unlike a flag, which each package would have to define; nothing is
// rebuilt for it, unlike for a build tag; and the cache of "go test" takes it into account. Nothing reads -short.
package deep

import (
	"os"
	"testing"
)

// Variable is the name of the variable, and night its value at night.
const (
	Variable = "WANDERD_DEEP"
	night    = "night"
)

// Is reports whether deep tests run. They do at night, too.
func Is() bool { return os.Getenv(Variable) != "" }

// Night reports whether all tests run.
func Night() bool { return os.Getenv(Variable) == night }

// Only skips a test unless deep tests run. what names the part that takes long.
func Only(t testing.TB, what string) {
	t.Helper()
	if !Is() {
		t.Skipf("%s: only in \"make deep\" (%s=1)", what, Variable)
	}
}

// AtNight skips a test unless all tests run. what names the part that takes long.
func AtNight(t testing.TB, what string) {
	t.Helper()
	if !Night() {
		t.Skipf("%s: only in \"make night\" (%s=%s)", what, Variable, night)
	}
}

// Of returns how much a test does: usually, in a check, or at night.
func Of[T any](usually, deeply, atNight T) T {
	switch {
	case Night():
		return atNight
	case Is():
		return deeply
	}
	return usually
}
