package siblings

import "github.com/wanderd/wanderd/sim/study"

// Page returns all experiments.
func Page() study.Page {
	return study.Page{
		Name: "siblings", Title: "The sibling papers' evaluations, repeated",
		Intro: "Papers on other token protocols, and their tables and figures beside what comes out here. *k-copies* is Arantes and " +
			"Sopena, *Easily rendering token-ring algorithm fault tolerant*. *Q and D* is Feuerstein, Leonardi, Marchetti-Spaccamela and Santoro, " +
			"*Efficient token-based control in rings*. *Fair tree* is Sopena, Arantes and Sens, *Performance evaluation of a " +
			"fair fault-tolerant mutual exclusion algorithm*.",
		Experiments: []study.Experiment{ringRequests(), ringWk(), ringResilience(), ringTranspeer(), ringBeyond(), treeBehaviour(), treeTimeouts(), treePredecessors()},
	}
}

// against names what the verdict of an experiment judges.
const against = "Published numbers"
