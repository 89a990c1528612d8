// Package scenario is the table of what a simulation can be told, by flags and a TOML file, and the checks of what is told.
//
//	parameter.go  the parameters
//	policy.go     the policies: each has a file with the table of its parameters, their checks, and the scenario as the simulator wants it
//	read.go       reading and checking them
package scenario
