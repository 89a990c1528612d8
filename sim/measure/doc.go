// Package measure turns the run of a simulated fleet into figures: how busy the fleet is, how much overlaps, how long
// members wait, what becomes of the tokens, and how long a recovery takes.
//
// A [Meter] watches one run and gives [Figures]; [Across] makes a [Summary] of many. A meter goes by the effects of the
// machines, costs some tens of nanoseconds a step, and changes nothing. A [Concurrency] measures overlap only.
//
// It never says what was published, or whether a figure is good. It has no clock and no randomness.
package measure
