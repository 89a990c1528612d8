// Package deep says which tests are deep.
//
// A deep test holds what the others hold, with more: many seeds, mutants, large fleets, long virtual days, many runs of
// real processes. "go test ./..." leaves the deep ones out: it should take three minutes on two cores. "make deep" has
// them all, and so has "make check", which CI runs.
//
// There is one switch, the variable WANDERD_DEEP: any value but the empty one stands for deep. A variable works for all
// packages at once, unlike a flag, which each package would have to know; nothing is built anew for it, unlike for a
// build tag; and the cache of "go test" knows of it. Nothing reads -short.
package deep

import (
	"os"
	"testing"
)

// Variable is the name of the variable.
const Variable = "WANDERD_DEEP"

// Is reports whether deep tests run.
func Is() bool { return os.Getenv(Variable) != "" }

// Only skips a test unless deep tests run. what says what takes so long.
func Only(t testing.TB, what string) {
	t.Helper()
	if !Is() {
		t.Skipf("%s: only in \"make deep\" (%s=1)", what, Variable)
	}
}

// Or returns how much a test does: usually, and when deep tests run.
func Or[T any](usually, deeply T) T {
	if Is() {
		return deeply
	}
	return usually
}
