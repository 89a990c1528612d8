package siblings

import (
	"slices"

	"github.com/wanderd/wanderd/policy/kcopies"
)

// This file builds the detection sets of a token that does not go round a ring: section 5 of Arantes and Sopena,
// "Easily rendering token-ring algorithm fault tolerant" (k-copies, "Generalizing our algorithm").
//
// "Token holder chooses the set of its successors by exploiting as much as possible the knowledge that it has about the
// future path of the token (e.g. set of nodes from which the token holder has received a request that has not been
// satisfied yet). […] if the number of nodes of this set, whose nodes are all distinct, is smaller than k + 1 (the
// token holder includes itself in this set), it will be completed with nodes which have held the token recently. The
// latter are just used to control the liveness of the other nodes […]. We respectively denote the first and the second
// type of nodes predictable and monitor."
//
//	T   S4  S1  S6  S8 │ S5  S9  S2        figure 6, k = 6: the holder, three predictable members, three monitors
//	D of S8: S4 S1 S6 S8      D of S5: S4 S1 S6 S8 S5
//
// On a ring the path is the next members in order, all of T is predictable, and D is that of package kcopies.
//
// Section 5 leaves two things open. First, a monitor that is replaced still has a copy, and its D may lack the holder:
// it must be told of the replacement before it hears of a crash of the member that replaced it. Second, a member of T
// that is known to have crashed is useless: a holder that leaves such members out has k living backups after every
// move, and loses the token only to k + 1 crashes at once.

// copySet is T: the members that have the token or a copy of it. The holder comes first, then the predictable members
// in the order of the path, then the monitors, the most recent holder first. All are distinct, and there are at most
// k + 1.
type copySet struct {
	sites []kcopies.Site
	// predictable is how many of them are predictable, the holder among them.
	predictable int
}

// holder is S_T.
func (t *copySet) holder() kcopies.Site { return t.sites[0] }

// detectionSet is D of a member of T: all members before it, and itself. "The k + 1 detection sets are different from
// each other and have nested intersections." It is a part of T, and nil for other members.
func (t *copySet) detectionSet(i kcopies.Site) []kcopies.Site {
	at := slices.Index(t.sites, i)
	if at < 0 {
		return nil
	}
	return t.sites[:at+1]
}

// isMonitor reports whether i is a member of T that is not on the path.
func (t *copySet) isMonitor(i kcopies.Site) bool { return slices.Index(t.sites, i) >= t.predictable }

// nextCopySet computes what T becomes when its holder S_k sends the token along the path. The path begins with the next
// holder, not with S_k: "S_k must update its T set by replacing the monitor nodes by predictable ones as much as
// possible. Nodes are replaced till either S_k is removed from T or there are no more sites in the predictable path.
// […] In this case, S_k will become a monitor node." The result uses the memory of into.
func nextCopySet(t *copySet, path []kcopies.Site, k int, into *copySet) {
	into.sites, into.predictable = into.sites[:0], 0
	add := func(sites []kcopies.Site) {
		for _, s := range sites {
			if len(into.sites) <= k && !slices.Contains(into.sites, s) {
				into.sites = append(into.sites, s)
			}
		}
	}
	add(path)
	into.predictable = len(into.sites)
	add(t.sites[:1])
	add(t.sites[t.predictable:])
	add(t.sites[1:t.predictable])
}
