package paper

import "github.com/wanderd/wanderd/lab/study"

// Page returns all experiments, in the order of the paper.
func Page() study.Page {
	return study.Page{
		Name: "paper", Title: "The paper's evaluation, repeated",
		Intro: "Augusto Ciuffoletti, *The wandering token*, evaluates the algorithm by a simulator that was not published. This page compares its tables and figures with " +
			"wanderd's protocol code: the code that the agent runs, message by message, in virtual time. One unit of the paper is " +
			"one second. \"Measured\" is the mean over seeds, ± half of its 95 % confidence interval.",
		Experiments: []study.Experiment{
			randomAccess(), wanderStable(), wanderIntervals(), wanderLoss(), wanderBurst(), wanderBackbone(), wanderVariants(),
		},
	}
}
