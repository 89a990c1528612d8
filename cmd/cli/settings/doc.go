// Package settings turns flags, environment, a TOML file and defaults into typed values, each of which has one origin.
//
//	flag  >  environment  >  file  >  default
//
// A [Table] lists what can be set: a row is a [Setting], with its name, the variable it fills, default and help. A
// [Reading] applies the layers to the table, one after the other, and collects everything that is wrong, each problem
// with its file and line, its variable or its flag.
//
//	setting.go    a row, and the table
//	value.go      the kinds of values; duration.go and share.go write two of them, form.go how a file writes them
//	read.go       layers on top of each other, and checks; origin.go, problem.go, and suggest.go for what was meant
//	flags.go      a layer, as are environ.go and file.go; line.go finds the lines of a file
package settings
