// Package scenario turns flags and a TOML file into a scenario for the simulator.
//
//	flag  >  file  >  default
//
// One table (parameter.go) drives all of it, help and messages: no parameter is spelled anywhere else. Reading ([Read]) reports
// everything that is wrong at once: what cannot be understood, and what cannot be.
//
//	parameter.go  what there is: the table
//	value.go      durations, counts, shares, choices: how they are written and read
//	flags.go      the layer of the command line
//	file.go       the layer of the file
//	read.go       one on top of the other
//	check.go      what cannot be
//	world.go      the scenario as package sim wants it
package scenario
