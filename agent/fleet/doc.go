// Package fleet asks the members of a fleet, and answers them: what each one's status is, what it has run, and who has
// a token now.
//
// Members are asked when somebody asks, and never otherwise; nothing is kept but where each token was seen last. How a
// question reaches a member, and who may ask, is package membership's business.
//
// Its decisions, in docs/decisions: 084.
package fleet
