// Package scenario has the table of a simulation's parameters, from flags and a TOML file, and checks them.
//
//	parameter.go  the parameters; read.go reads them
//	policy.go     the policies: each has a file with its table, its checks, and its scenario for package sim
package scenario
