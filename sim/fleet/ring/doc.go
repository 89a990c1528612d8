// Package ring knows fleets whose token goes round a ring, always or on request: their parts, the cost of their
// messages, and the rules that hold for them alone.
//
// A [Scenario] has every parameter of one run; [Scenario.Measure] lets a fleet live for a given time. A [Meter] counts
// in the units of the paper on protocols Q and D: a hop of the token is one message, and so is a hop of a request.
package ring
