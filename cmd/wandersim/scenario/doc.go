// Package scenario is the table of what a simulation can be told, by flags and a TOML file, and the checks of what is
// told.
//
//	parameter.go  the parameters; read.go reads them
//	policy.go     the policies: each has a file with its table, its checks, and its scenario for package sim
package scenario
