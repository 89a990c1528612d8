// Package reduce makes a failing run smaller, and writes a scenario as a few lines that can be run again.
//
// A scenario is a struct: its fields, and those of the structs within it, are its parameters. [Text] writes those that
// are not zero, in TOML; [Read] reads them, and bounds each. [Smaller] takes away members, time, faults and digits as
// long as the same rule is broken.
//
// The package knows no protocol: a family of package fleet gives its own checks, and its way to explore a scenario.
//
// Its decisions, in docs/decisions: 103.
package reduce
