// Package deep tells which tests are deep.
//
// A deep test checks the same rules as the others, with more: many seeds, mutants, large fleets, long virtual days,
// many runs of real processes. "go test ./..." leaves out the deep ones: it should take three minutes on two cores.
// "make deep" runs them all, and so does "make check", which CI runs.
//
// There is one switch, the variable WANDERD_DEEP: any value except the empty one stands for deep. A variable works for
// all packages at once, unlike a flag, which each package would have to define; nothing is rebuilt for it, unlike for a
// build tag; and the cache of "go test" takes it into account. Nothing reads -short.
package deep

import (
	"os"
	"testing"
)

// Variable is the name of the variable.
const Variable = "WANDERD_DEEP"

// Is reports whether deep tests run.
func Is() bool { return os.Getenv(Variable) != "" }

// Only skips a test unless deep tests run. what names the part that takes long.
func Only(t testing.TB, what string) {
	t.Helper()
	if !Is() {
		t.Skipf("%s: only in \"make deep\" (%s=1)", what, Variable)
	}
}

// Or returns how much a test does: usually, or deeply when deep tests run.
func Or[T any](usually, deeply T) T {
	if Is() {
		return deeply
	}
	return usually
}
