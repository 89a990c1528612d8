package tree

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// searchPos is lines 39–43: "it may happen that all of Si's k predecessors have crashed. In this case, Si diffuses a
// SEARCH_POS message which contains its current position and the list of its k predecessors, which are all faulty"
// (section 4.1).
func (m *Machine) searchPos(now policy.Time, out []policy.Effect) []policy.Effect {
	m.newPred = newPred{id: nobody, pos: none, next: nobody} // lines 41–42
	m.awaitPositions(now)
	return m.diffuse(KindSearchPos, policy.AppendTell(out, NoteSearchPos, m.cfg.Self, nil)) // line 40
}

// awaitPositions is "Alarm (ReconnectionTimer)", lines 43 and 76.
func (m *Machine) awaitPositions(now policy.Time) {
	m.searched(now)
	m.alarm(reconnectionTimer, now, m.timers().Reconnection)
	m.repeatLater(now)
}

// searchRepeats is how often a search is sent where messages are lost.
const searchRepeats = 4

func (m *Machine) repeatLater(now policy.Time) {
	if m.cfg.Links == UDP {
		m.repeatAt = now.Add(m.timers().Reconnection / searchRepeats)
	}
}

func (m *Machine) repeatSearch(now policy.Time, out []policy.Effect) []policy.Effect {
	m.repeatLater(now)
	switch {
	case m.timer == failureTimer:
		return m.diffuse(KindFailure, out)
	case m.timer == electionTimer:
		return m.diffuse(KindElection, out)
	case m.candidate:
		return m.diffuse(KindSearchQueue, out)
	}
	return m.diffuse(KindSearchPos, out)
}

// diffuse broadcasts a search of this site.
func (m *Machine) diffuse(kind wire.Kind, out []policy.Effect) []policy.Effect {
	b := m.say(m.self, m.number)
	if m.candidate {
		b.clock = m.election.stamp
	}
	if kind == KindSearchPos {
		b.preds = uint8(copy(b.pred[:], m.predecessors()))
	}
	return m.broadcast(kind, wire.Ref{}, b, out)
}

// receiveSEARCHPOS is ReceiveSEARCH_POS, lines 60–64.
func (m *Machine) receiveSEARCHPOS(now policy.Instant, b *body, out []policy.Effect) []policy.Effect {
	sj := b.from
	m.searches.add(sj, b.pos, now.Time.Add(m.timers().Reconnection))
	if m.last != nobody && slices.Contains(b.pred[:b.preds], m.last) { // line 63
		m.last = sj // line 64
	}
	m.lead(b.pos)
	if m.pos != none && before(m.pos, m.self, b.pos, sj) || m.knowsNewer(b) { // line 61
		return m.answer(KindPosition, sj, out) // line 62, "Send ⟨POSITION, Si, pos, next⟩"
	}
	return out
}

// knowsNewer reports whether a token was regenerated of which the searcher does not know. The searcher is told, so that
// a token that it makes itself has a higher number.
func (m *Machine) knowsNewer(b *body) bool { return b.known.NextEpoch() < m.known.NextEpoch() }

// searches are the sites that search, and until when they do: rule (vii), "a site about to receive a token in flight
// has no position and answers a search only on receipt, or regeneration makes a second token".
type searches struct {
	sites []search
	// last is the end of the latest search.
	last policy.Time
}

// search is the search of one site; pos is none in SEARCH_QUEUE.
type search struct {
	until policy.Time
	pos   position
}

func (s *searches) add(site rank, pos position, until policy.Time) {
	s.sites[site] = search{until, pos}
	s.last = max(s.last, until)
}

// answerSearches answers the searches that this site has heard of lately, because the token has just come.
func (m *Machine) answerSearches(now policy.Time, out []policy.Effect) []policy.Effect {
	if now >= m.searches.last {
		return out
	}
	for i := range m.searches.sites {
		switch s := &m.searches.sites[i]; {
		case s.until <= now:
		case m.cfg.Recovery == Baseline:
			out = m.answer(KindPresent, rank(i), out)
		default:
			m.lead(s.pos)
			out = m.answer(KindPosition, rank(i), out)
		}
	}
	return out
}
