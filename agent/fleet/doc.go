// Package fleet asks the members of a fleet, and answers their questions: what is each member's status, what has it
// run, and who has a token now?
//
// A member asks only when an operator asks, and keeps nothing but where each token was last seen. Package membership
// decides how a question reaches a member, and who may ask.
//
// Its decisions, in docs/decisions: 084.
package fleet
