// Package plan tells an operator before deployment what a fleet will do: it chooses a gate's constants for a wish (so many
// members, so long an operation, so often), simulates the fleet with them, and says what to expect, what it costs and what
// would have to change where the wish cannot be met.
//
//	wish.go           what is asked, and what is impossible
//	theory.go         the closed form: busy time and waits of each walk, as a mean field
//	constants.go      which constants are recommended
//	change.go         the smallest change with which a wish could be met
//	fleet.go          one simulated fleet in the long run; loss.go what becomes of it when its token is lost
//	guardians.go      when guardians must be simulated, and what they send if they are not
//	simulate.go       many of them on all cores, and what they say together; quantiles.go distributions
//	traffic.go        datagrams, bytes, and an estimate of gossip
//	answer.go         all of it as plain data; warning.go what is likely not to be wanted
//	configuration.go  the constants as TOML and as flags
//	text.go           the answer for people; span.go how durations are rounded and written
//
// The machines are those of package wander, unchanged; what is measured comes from package measure. A plan never reads a clock: the
// work it does is counted in steps of machines, and does not depend on the wish.
package plan
