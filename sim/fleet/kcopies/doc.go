// Package kcopies has the worlds of a ring whose token survives crashes (package policy/kcopies), the applications on it by name, and what
// must hold in them.
//
//	world.go      a ring of one application, and who crashes when
//	proof.go      the appendix's properties, after every step
//	walk.go       Le Lann's token meets crashed members: both losses
//	applications.go   Le Lann and Martin; termination.go, election.go, transpeer.go   what the applications come to, and when
//
// The detector of these worlds is perfect: it tells of a crash when no message of the crashed is in flight any more.
package kcopies
