// Package plan tells an operator before deployment what a fleet will do. It takes a wish (number of members, duration of the operation, how
// often), chooses a gate's constants, simulates the fleet with them, and says what to expect and what it costs. If the wish is impossible, it
// says what would have to change.
//
//	wish.go           the wish, and which wishes are invalid
//	theory.go         a closed form, as a mean field: busy time and waits of each walk
//	constants.go      the recommended constants
//	change.go         the smallest change that makes a wish possible
//	fleet.go          one simulated fleet in the long run; loss.go: after the loss of its token
//	guardians.go      when guardians must be simulated, and their traffic if they are not
//	simulate.go       many fleets on all cores, summed up; quantiles.go: distributions
//	traffic.go        datagrams, bytes, and an estimate of gossip
//	answer.go         the answer as plain data; warning.go: its warnings
//	configuration.go  the constants as TOML and as flags
//	text.go           the answer for people; span.go: how durations are rounded and written
//
// The machines are those of package wander, unchanged; the figures come from package measure. A plan never reads a clock: its work is counted
// in steps of machines, and does not depend on the wish.
package plan
