package sim

// oneWay is which members the network serves in one direction only. Nobody's view tells of it: gossip finds other ways.
type oneWay struct {
	// deaf hear nothing, mute are not heard.
	deaf, mute []bool
}

// stops reports whether a message does not arrive because of its sender or its addressee.
func (w *oneWay) stops(from, to int) bool {
	return w.deaf != nil && (w.mute[from] || w.deaf[to])
}

// Deafen lets member i hear nothing from now on, or hear again.
func (c *Cluster) Deafen(i int, deaf bool) { c.net.oneWay.of(len(c.members)).deaf[i] = deaf }

// Mute lets nobody hear member i from now on, or everybody again.
func (c *Cluster) Mute(i int, mute bool) { c.net.oneWay.of(len(c.members)).mute[i] = mute }

// Hears reports whether member i hears anything.
func (c *Cluster) Hears(i int) bool { return c.net.oneWay.deaf == nil || !c.net.oneWay.deaf[i] }

// IsHeard reports whether anybody hears member i.
func (c *Cluster) IsHeard(i int) bool { return c.net.oneWay.mute == nil || !c.net.oneWay.mute[i] }

// of returns the record of a network with so many members.
func (w *oneWay) of(members int) *oneWay {
	if w.deaf == nil {
		w.deaf, w.mute = make([]bool, members), make([]bool, members)
	}
	return w
}
