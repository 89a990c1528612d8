package tree

import "github.com/wanderd/wanderd/policy"

// connect is "Send ⟨CONNECTION, Si⟩", lines 37 and 52. It is a request with a number of its own.
func (m *Machine) connect(to rank, out []policy.Effect) []policy.Effect {
	m.number++
	out = policy.AppendTell(out, NoteConnecting, m.cfg.Roster[to], nil)
	b := m.say(m.self, m.number)
	if m.pos == none {
		b.pred[0], b.preds = m.newPred.next, 1
	}
	return m.send(KindConnection, to, b, out)
}

// receiveCONNECTION is ReceiveCONNECTION, lines 57–59. Only a site before Sj can be its predecessor: rule (ii),
// "CONNECTION to it closes a cycle". A site without a position displaces only a next that it found silent: rule (iv).
// It queues behind any other next.
func (m *Machine) receiveCONNECTION(now policy.Instant, b *body, out []policy.Effect) []policy.Effect {
	sj := b.from
	m.lead(b.pos)
	switch {
	case m.idle():
		m.last = sj
		return m.sendTOKEN(now, link{sj, b.number}, out)
	case m.pos == none || m.passing || b.pos != none && !before(m.pos, m.self, b.pos, sj):
		return m.refuse(sj, link{sj, b.number}, policy.AppendTell(out, NoteLate, m.cfg.Roster[sj], nil))
	case b.pos == none && b.preds > 0 && m.next.rank != nobody && m.next.rank != sj && m.next.rank != b.pred[0]:
		fwd := body{from: m.self, origin: sj, number: b.number, pos: none, next: nobody, known: m.known}
		return m.send(KindRequest, m.next.rank, fwd, out)
	}
	m.next = link{sj, b.number} // line 58
	if m.last == nobody {
		m.last = sj
	}
	return m.sendCommit(out) // line 59
}

// before reports whether a site's position is before another one's. Two sites can have the same position after a
// recovery; then the lower rank is the first.
func before(pos position, site rank, other position, otherSite rank) bool {
	return pos < other || pos == other && site < otherSite
}

// lead: "The site holding the token keeps the smallest position" (section 4.1). A recovery can bypass a waiting site
// that has a position before the holder's. A holder that hears of such a site takes a smaller position.
func (m *Machine) lead(pos position) {
	if m.holds && pos > 0 && m.pos >= pos {
		m.pos = pos - 1
	}
}
