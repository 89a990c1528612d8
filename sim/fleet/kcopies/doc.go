// Package kcopies has the worlds of a ring whose token survives crashes (package policy/kcopies), the applications on
// that ring by name, and the rules that must hold in them.
//
// The failure detector of these worlds is perfect: it reports a crash when no message of the crashed member is in
// flight any more.
package kcopies
