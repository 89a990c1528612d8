// Package settings turns flags, environment, a TOML file and defaults into typed values, each of which has one origin.
//
//	flag  >  environment  >  file  >  default
//
// A [Table] says what can be set: a row is a [Setting], with its name, the variable it fills, default and help. A [Reading]
// puts the layers upon the table, one after the other, and collects everything that is wrong, each thing with its file and
// line, its variable or its flag.
//
//	setting.go    a row, and the table
//	value.go      what values there are, and how they are written; duration.go, share.go
//	read.go       layers on top of each other, and checks
//	flags.go, environ.go, file.go   the layers; line.go finds the lines of a file
package settings
