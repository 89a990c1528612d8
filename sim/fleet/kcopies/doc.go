// Package kcopies has the worlds of a ring whose token survives crashes (package policy/kcopies), the applications on
// it by name, and what must hold in them.
//
// The detector of these worlds is perfect: it tells of a crash when no message of the crashed is in flight any more.
package kcopies
