// Package paper repeats the evaluation of Ciuffoletti's "The wandering token" with the machines of package
// policy/wander, and shows what was published and what is measured side by side.
//
// Every experiment is a table, a figure or a claim of the paper. It runs the same machines as the agent does, message
// by message, in package sim: every handoff is three messages. As in the paper's section 6 "the duration of the token
// passing operation […] is assumed to be negligible": messages take no time. The paper's unit of time is a second here.
//
// # What the paper leaves open
//
// Its simulator was not published. Where prose and figure 2 differ, the machines follow the prose. The numbers for
// N=150 are reproduced; those for N=300 are not, and wander-variants looks for the reason with a model of its own: the
// rules of the machines are never bent to hit a number.
package paper
