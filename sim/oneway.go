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

// isDeaf reports whether a member hears nothing.
func (w *oneWay) isDeaf(i int) bool { return w.deaf != nil && w.deaf[i] }

// talk reports whether what either of two members sends may come to the other one.
func (c *Cluster) talk(a, b int) bool { return c.net.reaches(a, b) && c.net.reaches(b, a) }

// of returns the record of a network with so many members.
func (w *oneWay) of(members int) *oneWay {
	if w.deaf == nil {
		w.deaf, w.mute = make([]bool, members), make([]bool, members)
	}
	return w
}
