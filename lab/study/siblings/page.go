package siblings

import "github.com/wanderd/wanderd/lab/study"

// Page returns all experiments.
func Page() study.Page {
	return study.Page{
		Name: "siblings", Title: "The sibling papers' evaluations, repeated",
		Intro: "This page repeats the evaluations of papers on other token protocols, and compares their tables and figures with " +
			"wanderd's. *k-copies* is Arantes and " +
			"Sopena, *Easily rendering token-ring algorithm fault tolerant*. *Q and D* is Feuerstein, Leonardi, Marchetti-Spaccamela and Santoro, " +
			"*Efficient token-based control in rings*. *Fair tree* is Sopena, Arantes and Sens, *Performance evaluation of a " +
			"fair fault-tolerant mutual exclusion algorithm*.",
		Experiments: []study.Experiment{ringRequests(), ringWk(), ringResilience(), ringTranspeer(), ringBeyond(), treeBehaviour(), treeTimeouts(), treePredecessors()},
	}
}
