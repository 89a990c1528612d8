// Package plan tells an operator before deployment what a fleet will do. It takes a request (number of members,
// duration of the operation, how often it is to run), chooses a gate's constants, simulates the fleet with them, and
// reports what to expect and what it costs. If the request is impossible, it reports what would have to change.
//
// A gate on demand has a plan of its own: see [ForCallers]. Its token is called.
//
// The machines are those of packages wander and call, unchanged; the figures come from package measure. A plan never
// reads a clock: its work is counted in steps of machines, and does not depend on the request.
package plan
