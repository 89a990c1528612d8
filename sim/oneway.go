package sim

// oneWay has the members that the network serves in one direction only, and the pairs that it does not serve. This does
// not show in the views: gossip finds other ways.
type oneWay struct {
	// deaf members hear nothing; mute members are not heard.
	deaf, mute map[int]bool
	// apart are pairs of a sender and an addressee.
	apart map[link]bool
}

// stops reports whether a message does not arrive because of its sender or its addressee.
func (w *oneWay) stops(from, to int) bool {
	return len(w.deaf)+len(w.mute)+len(w.apart) > 0 &&
		(w.mute[from] || w.deaf[to] || w.apart[link{int32(from), int32(to)}])
}

// Deafen makes member i deaf from now on: nothing reaches it; or ends that.
func (c *Cluster) Deafen(i int, deaf bool) { c.net.oneWay.deaf[i] = deaf }

// Mute makes member i mute from now on: it reaches nobody; or ends that.
func (c *Cluster) Mute(i int, mute bool) { c.net.oneWay.mute[i] = mute }

// CutLink lets no message of one member reach another one until [Cluster.Repair].
func (c *Cluster) CutLink(from, to int) { c.net.oneWay.apart[link{int32(from), int32(to)}] = true }

// Hears reports whether member i is not deaf.
func (c *Cluster) Hears(i int) bool { return !c.net.oneWay.deaf[i] }

// IsHeard reports whether member i is not mute.
func (c *Cluster) IsHeard(i int) bool { return !c.net.oneWay.mute[i] }
