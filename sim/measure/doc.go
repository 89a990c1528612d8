// Package measure turns the run of a simulated fleet into figures: how busy the fleet is, how much overlaps, how long members
// wait, what becomes of the tokens, and how long a recovery takes.
//
// A [Meter] watches one run and gives [Figures]; [Across] makes a [Summary] of many. A meter goes by the effects of the
// machines, costs some tens of nanoseconds a step, and changes nothing. A [Concurrency] measures overlap only.
//
//	levels.go      for how long a number had each of its values, exactly
//	operations.go  who runs, and since when; intervals.go their distribution; busy.go how much per unit of time
//	custody.go     where the tokens are, and what became of each
//	recovery.go    how long the fleet takes to be stable again; losses.go how long it takes to get over each loss by itself
//	figures.go     all of it, as JSON; estimate.go mean and confidence interval over seeds
//
// It never says what was published, or whether a figure is good. It has no clock and no randomness.
package measure
