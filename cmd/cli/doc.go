// Package cli has what the programs of this project have in common: how a command line is understood and refused, how
// help, manual pages and completions are written, exit codes, signals and the version.
//
//	run.go       a program's commands, and the messages about a wrong command line
//	other.go     commands that another program of this project carries out
//	exit.go      exit codes; signals.go the signals that end a program
//	help.go      help; manual.go the same as pages of the manual; completion.go for shells
//	settings/    flags and files; usual/ the settings of a gate that agent and simulator share
//
// Its decisions, in docs/decisions: 089.
package cli
