package compare

import "github.com/wanderd/wanderd/lab/study"

// advice returns what the page's sentences of advice rest on, in order: whether the figures bear out each sentence, and
// the figures in it.
func advice(list []measured) (holds []bool, figures study.Figures) {
	const full, twice = 1.0, 2.0
	of := func(name string, load float64, f fault) *measured { return one(list, name, disturbed, load, f) }
	four := func(load float64, f fault) (call, wander, ring, tree *measured) {
		return of("call", load, f), of("wander, sweep", load, f), of("ring, q", load, f), of("tree, fair", load, f)
	}
	call, wander, q, tree := four(rarely, noFault)
	busyCall, busyWander, busyQ, busyTree := four(twice, noFault)
	killedCall, killedWander, killedQ, killedTree := four(twice, ofCrashes)
	restCall, restWander, _, _ := four(idle, noFault)
	bare, lossy := of("wander, sweep, no guardians", full, ofCrashes), of("tree, fair", twice, ofLoss)
	lossyCall := of("call", twice, ofLoss)
	const alike = 1.2
	holds = []bool{
		call.p50 < alike*tree.p50 && call.p50 < q.p50 && q.p50 < wander.p50 && call.messages < q.messages &&
			restCall.idle == 0 && restWander.idle > 0,
		min(busyTree.busy, busyCall.busy) > busyWander.busy && busyCall.p99 < alike*busyTree.p99 &&
			busyTree.p99 < min(busyQ.p99, busyWander.p99) && busyCall.messages < busyTree.messages,
		tree.messages < call.messages && lossy.messages > 10*busyTree.messages &&
			lossyCall.messages < 2*busyCall.messages,
		max(killedWander.recovery, killedCall.recovery) < min(killedTree.recovery, killedQ.recovery) &&
			bare.recovery > 10*killedWander.recovery,
	}
	group := func(call, wander, ring, tree *measured) study.Figures {
		return study.Figures{
			"call": call.figures(), "wander": wander.figures(), "ring": ring.figures(), "tree": tree.figures(),
		}
	}
	killed := group(killedCall, killedWander, killedQ, killedTree)
	killed["alone"] = bare.figures()
	return holds, study.Figures{
		"rare": group(call, wander, q, tree), "busy": group(busyCall, busyWander, busyQ, busyTree), "killed": killed,
		"rest":  study.Figures{"call": number(restCall.idle), "wander": number(restWander.idle)},
		"lossy": study.Figures{"tree": lossy.figures(), "call": lossyCall.figures()},
	}
}

// figures returns the figures that sentences have, as they are written.
func (m *measured) figures() study.Figures {
	return study.Figures{
		"p50": number(m.p50), "p99": number(m.p99), "messages": number(m.messages), "busy": number(100 * m.busy),
		"recovery": number(m.recovery),
	}
}
