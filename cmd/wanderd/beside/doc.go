// Package beside holds the simulator beside real agents. It has tests only: fleets of complete agents, the real memberlist
// included, on a network in memory in virtual time, and the simulator with the same constants and the same faults.
//
//	go test ./cmd/wanderd/beside -v     prints what both lead to
package beside
