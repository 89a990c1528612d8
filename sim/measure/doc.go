// Package measure turns the run of a simulated fleet into figures: how busy the fleet is, how much overlaps, how long members
// wait, what becomes of the tokens and how the fleet gets over the loss of one.
//
// A [Meter] watches one run and gives [Figures]; [Across] makes a [Summary] of many. A meter goes by what the machines tell,
// send and run, costs some tens of nanoseconds a step, and changes nothing.
//
//	levels.go      for how long a number had each of its values, exactly
//	operations.go  who runs, and since when; intervals.go their distribution; busy.go how much per unit of time
//	custody.go     where the tokens are, and what became of each
//	recovery.go    how long the fleet takes to be stable again; losses.go how long it takes to get over each loss by itself
//	figures.go     all of it, as JSON; estimate.go mean and confidence interval over seeds
//
// It never says what is published, and whether a figure is good. It has no clock and no randomness.
package measure
