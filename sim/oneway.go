package sim

// oneWay has the members that the network serves in one direction only. Views do not show it: gossip finds other ways.
type oneWay struct {
	// deaf hear nothing, mute are not heard.
	deaf, mute []bool
}

// stops reports whether a message does not arrive because of its sender or its addressee.
func (w *oneWay) stops(from, to int) bool {
	return w.deaf != nil && (w.mute[from] || w.deaf[to])
}

// Deafen makes member i deaf from now on: nothing reaches it; or ends that.
func (c *Cluster) Deafen(i int, deaf bool) { c.net.oneWay.of(len(c.members)).deaf[i] = deaf }

// Mute makes member i mute from now on: it reaches nobody; or ends that.
func (c *Cluster) Mute(i int, mute bool) { c.net.oneWay.of(len(c.members)).mute[i] = mute }

// Hears reports whether member i is not deaf.
func (c *Cluster) Hears(i int) bool { return c.net.oneWay.deaf == nil || !c.net.oneWay.deaf[i] }

// IsHeard reports whether member i is not mute.
func (c *Cluster) IsHeard(i int) bool { return c.net.oneWay.mute == nil || !c.net.oneWay.mute[i] }

// of returns the record of a network with this many members.
func (w *oneWay) of(members int) *oneWay {
	if w.deaf == nil {
		w.deaf, w.mute = make([]bool, members), make([]bool, members)
	}
	return w
}
