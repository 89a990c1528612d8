// Package ring knows fleets whose token goes round a ring, always or on request: what they are made of, what their
// messages cost, and the rules that are theirs alone.
//
// A [Scenario] is every parameter of one run, [Scenario.Measure] lets a fleet live for a given time. A [Meter] counts
// in the units of the paper on protocols Q and D: a hop of the token is one message, and so is a hop of a request.
package ring
