// Package measure turns the run of a simulated fleet into figures: how busy the fleet is, how much overlaps, how long
// members wait, what becomes of the tokens, and how long a recovery takes.
//
// A [Meter] watches one run and returns [Figures]; [Across] makes a [Summary] of many runs. A meter uses the effects of
// the machines, costs some tens of nanoseconds a step, and changes nothing. A [Concurrency] measures overlap only.
//
// The package does not know published figures, and does not judge whether a figure is good. It has no clock and no
// randomness.
package measure
