// Package scenario is the table of what a simulation can be told, by flags and a TOML file, and the checks of what is told.
//
//	parameter.go  the parameters, and the table of how they are set
//	read.go       reading and checking them
//	world.go      the scenario as package sim wants it
package scenario
