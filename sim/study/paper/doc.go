// Package paper repeats the evaluation of Ciuffoletti's "The wandering token" with the machines of package policy/wander, and
// shows what was published and what is measured side by side.
//
// Every experiment is a table, a figure or a claim of the paper. It runs the same machines as the agent does, message by
// message, in package sim: every handoff is three messages. As in the paper's section 6 "the duration of the token passing
// operation […] is assumed to be negligible": messages take no time. The paper's unit of time is a second here.
//
//	page.go           the list of experiments
//	published.go      the numbers as printed
//	fleet.go          the paper's fleet: table 2
//	long_run.go       a run of 10⁶ units, and its counts
//	intervals.go      the times between two operations on one member, all of them, and those that table 4 seems to count
//	loss.go           the loss of the only token, and the time until the fleet is stable again
//	compare.go        published and measured side by side, and the effect of chance
//	model.go          the token without messages, under other readings of the paper (readings.go); with agenda.go, model_loss.go
//
// and one file for each experiment: random_access.go, wander_stable.go, wander_intervals.go, wander_loss.go, wander_burst.go,
// wander_backbone.go, wander_variants.go.
//
// # What the paper leaves open
//
// Its simulator was not published. Where prose and figure 2 differ the machines follow the prose. The numbers of N=150 come out;
// those of N=300 do not, and wander-variants looks for the reason with a model of its own: the rules of the machines are never
// bent to hit a number.
package paper
