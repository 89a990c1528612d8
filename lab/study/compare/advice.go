package compare

import "fmt"

// counsel is a sentence of advice, and whether the figures bear it out.
type counsel struct {
	text  string
	holds bool
}

// advise says what an operator should take for what.
func advise(list []measured) []counsel {
	rare, full, twice := loads()[0], loads()[1], loads()[2]
	of := func(name string, load float64, f fault) *measured { return one(list, name, disturbed, load, f) }
	wander, q, tree := of("wander, sweep", rare, noFault), of("ring, q", rare, noFault), of("tree, fair", rare, noFault)
	busyWander, busyQ, busyTree := of("wander, sweep", twice, noFault), of("ring, q", twice, noFault), of("tree, fair", twice, noFault)
	killedWander, killedQ, killedTree := of("wander, sweep", twice, ofCrashes), of("ring, q", twice, ofCrashes), of("tree, fair", twice, ofCrashes)
	bare, lossy := of("wander, sweep, no guardians", full, ofCrashes), of("tree, fair", twice, ofLoss)
	return []counsel{
		{
			fmt.Sprintf("For commands that are rare, take a tree: callers wait least. With %d members that ask rarely the median wait is %s s, "+
				"for %s datagrams. On a ring (q) it is %s s for %s, and with the wandering token, which rests at every member, %s s "+
				"for %s.",
				disturbed, number(tree.p50), number(tree.messages), number(q.p50), number(q.messages), number(wander.p50), number(wander.messages)),
			tree.p50 < q.p50 && q.p50 < wander.p50 && tree.messages < q.messages,
		},
		{
			fmt.Sprintf("For an overloaded gate, take a tree or a ring: they keep it busy for %s and %s %% of the time, the wandering token "+
				"for %s %%. The fair tree serves in the order of the requests, so its longest waits are the shortest: %s s (99th "+
				"percentile), against %s s on a ring and %s s with the wandering token.",
				number(100*busyTree.busy), number(100*busyQ.busy), number(100*busyWander.busy), number(busyTree.p99), number(busyQ.p99), number(busyWander.p99)),
			min(busyTree.busy, busyQ.busy) > busyWander.busy && busyTree.p99 < min(busyQ.p99, busyWander.p99),
		},
		{
			fmt.Sprintf("Where hosts come and go, take the wandering token with guardians: it needs no roster. After a crash of its holder the "+
				"next run starts at most %s s later, against %s s in a tree, %s s on a ring, and %s s without guardians. A tree of %d "+
				"members that loses 1 %% of its datagrams sends %s of them for each run.",
				number(killedWander.recovery), number(killedTree.recovery), number(killedQ.recovery), number(bare.recovery), disturbed, number(lossy.messages)),
			killedWander.recovery < min(killedTree.recovery, killedQ.recovery) && bare.recovery > 10*killedWander.recovery && lossy.messages > 10*busyTree.messages,
		},
	}
}
