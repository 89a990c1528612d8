package wander

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// Members that come into a view may have a token of their own, or a copy of this one: the network was split. By the rules of the paper the two
// tokens go on until one of them comes to a member that has met both. In a large fleet that takes minutes, and longer where
// operations take long. So a holder sends a beat to members that have come, and so do the next holders: to mostGreeted members each, for greetFor
// timeouts, and for as many more for each mostGreeted members. Who knows a copy with a higher number says so. Who holds another token answers
// with a beat of its own, if that is the older one; or tells the holder that its token is no more. One that does not hear that is told again.
const (
	mostGreeted = guardian.MostAsked
	greetFor    = 8
)

// reunion is what a member remembers of a view in which others have come: the view before it, and until when they are greeted.
type reunion struct {
	before []wire.MemberID
	until  policy.Time
}

// noteReunion remembers that members have come. If others came a moment ago, all of them are meant. To a member that was alone everybody has come: the others
// greet it.
func (m *Machine) noteReunion(now policy.Time, before *peers) {
	since := before.ids
	if now < m.reunion.until {
		since = m.reunion.before
	} else if before.alone() {
		return
	}
	come := 0
	for i := range m.peers.ids {
		if m.hasCome(m.peers.ids[i], since) {
			come++
		}
	}
	if come > 0 {
		m.reunion = reunion{before: since, until: now.Add(m.timeouts(greetFor * (1 + come/mostGreeted)))}
	}
}

// hasCome reports whether a member of the view is another one that was not in an earlier view.
func (m *Machine) hasCome(id wire.MemberID, before []wire.MemberID) bool {
	_, was := slices.BinarySearchFunc(before, id, wire.MemberID.Compare)
	return !was && id != m.cfg.Self
}

// greet tells members that have come of the held token; its guardians know of it. It begins anywhere in the view, so that each time others are first.
func (m *Machine) greet(now policy.Time, out []policy.Effect) []policy.Effect {
	if now >= m.reunion.until || !m.holds || !m.token.Guarded() || m.guardian.Doubting() {
		return out
	}
	trail := m.token.Trail()
	from, left := m.draw(m.peers.count()), mostGreeted
	for i := range m.peers.ids {
		if id := m.peers.ids[(from+i)%len(m.peers.ids)]; left > 0 && !trail.Has(id) && m.hasCome(id, m.reunion.before) {
			out = m.guardian.Greet(id, &m.token, out)
			left--
		}
	}
	return out
}

// meetsAnother reports whether a beat is that of another token, while this member holds one and has no doubt about it. Beats that answer
// questions are not meant.
func (m *Machine) meetsAnother(msg *wire.Message) bool {
	return msg.Kind == guardian.KindBeat && msg.Exchange == 0 && m.holds && m.token.ID != msg.Token.ID && !m.guardian.Doubting()
}

// onAnother answers the beat of another token. The older one survives, as where two meet. It is for the holder of the older one to say so: it knows that this
// one is not lost, and a beat may be played back.
func (m *Machine) onAnother(beat *wire.Message, out []policy.Effect) []policy.Effect {
	if !m.token.ID.Precedes(beat.Token.ID) {
		return m.guardian.Greet(beat.From, &m.token, out)
	}
	return m.guardian.Dismiss(beat, out)
}
