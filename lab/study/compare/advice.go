package compare

import "github.com/wanderd/wanderd/lab/study"

// advice returns what the page's sentences of advice rest on, in order: whether the figures bear out each sentence, and
// the figures in it.
func advice(list []measured) (holds []bool, figures study.Figures) {
	rare, full, twice := loads()[0], loads()[1], loads()[2]
	of := func(name string, load float64, f fault) *measured { return one(list, name, disturbed, load, f) }
	three := func(load float64, f fault) (wander, ring, tree *measured) {
		return of("wander, sweep", load, f), of("ring, q", load, f), of("tree, fair", load, f)
	}
	wander, q, tree := three(rare, noFault)
	busyWander, busyQ, busyTree := three(twice, noFault)
	killedWander, killedQ, killedTree := three(twice, ofCrashes)
	bare, lossy := of("wander, sweep, no guardians", full, ofCrashes), of("tree, fair", twice, ofLoss)
	holds = []bool{
		tree.p50 < q.p50 && q.p50 < wander.p50 && tree.messages < q.messages,
		min(busyTree.busy, busyQ.busy) > busyWander.busy && busyTree.p99 < min(busyQ.p99, busyWander.p99),
		killedWander.recovery < min(killedTree.recovery, killedQ.recovery) &&
			bare.recovery > 10*killedWander.recovery && lossy.messages > 10*busyTree.messages,
	}
	return holds, study.Figures{
		"rare": study.Figures{"wander": wander.figures(), "ring": q.figures(), "tree": tree.figures()},
		"busy": study.Figures{"wander": busyWander.figures(), "ring": busyQ.figures(), "tree": busyTree.figures()},
		"killed": study.Figures{
			"wander": killedWander.figures(), "ring": killedQ.figures(),
			"tree": killedTree.figures(), "alone": bare.figures(),
		},
		"lossy": study.Figures{"tree": lossy.figures()},
	}
}

// figures returns the figures that sentences have, as they are written.
func (m *measured) figures() study.Figures {
	return study.Figures{
		"p50": number(m.p50), "p99": number(m.p99), "messages": number(m.messages), "busy": number(100 * m.busy),
		"recovery": number(m.recovery),
	}
}
