package call

import (
	"math/bits"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// search is the question where the token is.
//
// R11 Looking for it. "A home that has waiters and knows no holder asks all members, 64 at a time, each batch until all
// have answered or P/2. A holder or guardian ends this; a receiver that is named is asked too, unless it has left or
// failed. Then after P to 8P." An answer counts until all are asked again, because a member may be far away. The pauses
// go on growing until a holder is heard: members that are wrong may name each other in turn. When its view changes it
// asks all again, half a patience after it began to ask at the earliest. A home that has asked all in vain, and is not
// the first one, sends its waiters to that one: only the first home makes a token (R15), and it may have learned that
// it is one after they had called it.
type search struct {
	id wire.Exchange
	// since is when this member began to look, began when it began to ask all. at is when it goes on.
	since, began, at policy.Time
	batchAt          policy.Time
	// batch is the place of the first member that is asked now, silent those of the batch that have not answered.
	batch  int32
	silent uint64
	// late are the silent ones of the earlier batches, a word for each batch; nil if all have answered.
	late []uint64
	// clean is true as long as nobody has answered that it has, or had, a token. asks is false between two passes; open
	// is true as long as answers count: also then, and in later batches, because a member may be far away.
	clean, asks, open bool
	// times counts how often a batch was asked, waits how often all were asked since a holder was heard.
	times, waits uint8
}

func (s *search) live() bool { return s.id != 0 }

// stop ends the search: a holder is heard, or nobody waits.
func (s *search) stop() { *s = search{} }

// pause ends the search as long as the member that was named may be the holder.
func (s *search) pause() { s.id, s.asks, s.open = 0, false, false }

// hurry ends a pass over the view, which has changed, and begins the next one soon: not at once, or the home of a fleet
// that starts would ask all members again for each one that comes. Who has been asked may still name a holder.
func (s *search) hurry(cfg *Config, now policy.Time) {
	if s.waits = 0; s.live() {
		s.asks, s.silent, s.late, s.at = false, 0, nil, max(now, s.began.Add(cfg.patience()/2))
	}
}

func (s *search) awaits(msg *wire.Message) bool { return s.id != 0 && s.open && s.id == msg.Exchange }

// wakesAt is when the search goes on.
func (s *search) wakesAt() policy.Time {
	if !s.live() {
		return policy.Never
	}
	return s.at
}

// look begins to look for the token, unless this member does so already, or guards a token: then it asks as a guardian.
func (m *Machine) look(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.search.live() || m.guards() || len(m.view.IDs) == 0 {
		return out
	}
	m.cfg.Marks.Hit(markLooks)
	s := &m.search
	s.since = now.Time
	if s.waits == 0 {
		return m.askAll(now, out)
	}
	s.id = wire.Exchange(policy.Draw(m.cfg.Entropy))
	m.cfg.Marks.Hit(markLooksLater)
	s.at = max(now.Time, s.began.Add(m.cfg.patience()<<(s.waits-1)))
	return out
}

// askAll begins to ask all members.
func (m *Machine) askAll(now policy.Instant, out []policy.Effect) []policy.Effect {
	s := &m.search
	s.id = wire.Exchange(policy.Draw(m.cfg.Entropy))
	s.began, s.batch, s.late, s.clean, s.asks, s.open = now.Time, 0, nil, true, true, true
	s.waits = min(s.waits+1, 1+doublings)
	return m.askBatch(now, out)
}

// askBatch asks the next members.
func (m *Machine) askBatch(now policy.Instant, out []policy.Effect) []policy.Effect {
	s := &m.search
	s.silent, s.times, s.batchAt, s.at = 0, 0, now.Time, now.Time.Add(m.cfg.patience()/8)
	for i := int(s.batch); i < len(m.view.IDs) && i < int(s.batch)+guardian.MostAsked; i++ {
		if i != m.view.Rank {
			s.silent |= 1 << (i - int(s.batch))
		}
	}
	if s.silent == 0 {
		return m.batchEnds(now, out)
	}
	return m.askSilent(now, out)
}

func (m *Machine) askSilent(now policy.Instant, out []policy.Effect) []policy.Effect {
	s := &m.search
	for left := s.silent; left != 0; left &= left - 1 {
		if i := int(s.batch) + bits.TrailingZeros64(left); i < len(m.view.IDs) {
			out = m.send(KindSeek, m.view.IDs[i], s.id, wire.Nonce(max(now.Time.Sub(s.began), 1)), nil, out)
		}
	}
	return out
}

// batchEnds goes on with the next members. After the last it makes a token if there is none, or asks again later.
func (m *Machine) batchEnds(now policy.Instant, out []policy.Effect) []policy.Effect {
	s := &m.search
	if next := s.batch + guardian.MostAsked; int(next) < len(m.view.IDs) {
		m.cfg.Marks.Hit(markNextBatch)
		s.keepLate(len(m.view.IDs))
		s.batch = next
		return m.askBatch(now, out)
	}
	if m.mayMake(now.Time) {
		return m.make(now, false, out)
	}
	if s.asks {
		m.cfg.Marks.Hit(markLookedInVain)
		s.asks, s.at = false, now.Time.Add(m.cfg.patience()<<(s.waits-1))
		if first := m.view.firstHome(); s.clean && first != m.cfg.Self {
			m.cfg.Marks.Hit(markFirstHomeTold)
			return m.sendNext(now.Time, nextHome, first, s.id, out)
		}
	}
	return out
}

// wakeSearch repeats questions, ends a batch, or asks again.
func (m *Machine) wakeSearch(now policy.Instant, out []policy.Effect) []policy.Effect {
	s, p := &m.search, m.cfg.patience()
	if now.Time < s.wakesAt() {
		return out
	}
	if !s.asks {
		return m.askAll(now, out)
	}
	switch s.times++; s.times {
	case 1:
		s.at = s.batchAt.Add(3 * p / 8)
	case 2:
		s.at = s.batchAt.Add(p / 2)
	default:
		return m.batchEnds(now, out)
	}
	m.cfg.Marks.Hit(markSearchRepeated)
	return m.askSilent(now, out)
}

// keepLate goes on waiting for the silent ones of a batch of that view.
func (s *search) keepLate(members int) {
	if s.silent == 0 {
		return
	}
	if s.late == nil {
		s.late = make([]uint64, (members+guardian.MostAsked-1)/guardian.MostAsked)
	}
	s.late[s.batch/guardian.MostAsked] = s.silent
}

// hears notes the answer of the member at a place, and reports whether it was the last one of the batch, or of all.
func (s *search) hears(place int) bool {
	batch, bit := place/guardian.MostAsked, uint64(1)<<(place%guardian.MostAsked)
	switch {
	case batch == int(s.batch)/guardian.MostAsked && s.silent&bit != 0:
		s.silent &^= bit
		return s.silent == 0
	case batch < len(s.late) && s.late[batch]&bit != 0:
		if s.late[batch] &^= bit; !slices.ContainsFunc(s.late, func(word uint64) bool { return word != 0 }) {
			s.late = nil
		}
		return s.silent == 0 && s.late == nil
	}
	return false
}

// answered notes that a member has answered.
func (m *Machine) answered(now policy.Instant, from wire.MemberID, out []policy.Effect) []policy.Effect {
	if place, ok := m.view.Place(from); ok && m.search.hears(place) {
		m.cfg.Marks.Hit(markAllAnswered)
		return m.batchEnds(now, out)
	}
	return out
}

// onSeek answers whether a token is, or was lately, here.
func (m *Machine) onSeek(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	holder, guards := m.guardian.Keeps()
	switch {
	case m.custody.holds():
		m.cfg.Marks.Hit(markSeekHolder)
		return m.sayWhere(msg, out)
	case guards:
		m.cfg.Marks.Hit(markSeekGuardian)
		t, _ := m.guardian.Last()
		out = m.send(KindWhere, msg.From, msg.Exchange, 0, &t.Ref, out)
		setPlaces(&out[len(out)-1].Msg.Load, holder, m.cfg.Self)
		return out
	case m.mayBeAway():
		m.cfg.Marks.Hit(markSeekAway)
		return m.send(KindWhere, msg.From, msg.Exchange, 0, nil, out)
	case m.birth.touched && m.birth.touchedAt >= now.Time.Add(-time.Duration(msg.Nonce)-m.cfg.patience()):
		m.cfg.Marks.Hit(markSeekLately)
		return m.send(KindWhere, msg.From, msg.Exchange, 0, nil, out)
	}
	return m.send(KindNone, msg.From, msg.Exchange, 0, nil, out)
}

// onNone notes that a member has no token.
func (m *Machine) onNone(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	return m.answered(now, msg.From, out)
}

// onFound handles the answer of a member that knows of a token. Its guardian is told of the waiters too: if the holder
// is gone, it revives the token.
func (m *Machine) onFound(
	now policy.Instant, msg *wire.Message, holder wire.MemberID, out []policy.Effect,
) []policy.Effect {
	s := &m.search
	s.clean = false
	if _, home := placesOf(&msg.Load); home == msg.From && holder != msg.From {
		m.cfg.Marks.Hit(markFoundGuardian)
		out = m.sendNext(now.Time, nextHome, msg.From, s.id, out)
	}
	if !holder.IsZero() && m.view.Has(holder) && m.hear(now.Time, msg, holder) {
		m.cfg.Marks.Hit(markFoundHolder)
		s.pause()
		return out
	}
	return m.answered(now, msg.From, out)
}
