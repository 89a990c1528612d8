package wander

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// peers is a view of the gate's live members, this one among them.
type peers struct {
	ids  []wire.MemberID
	rank int
}

func newPeers(ids []wire.MemberID, self wire.MemberID) peers {
	rank, _ := slices.BinarySearchFunc(ids, self, wire.MemberID.Compare)
	return peers{ids: ids, rank: rank}
}

// byHint returns the member whose identity begins with hint.
func (p *peers) byHint(hint uint32) (wire.MemberID, bool) {
	i, ok := slices.BinarySearchFunc(p.ids, hint, func(id wire.MemberID, h uint32) int { return cmp.Compare(Hint(id), h) })
	if !ok {
		return wire.MemberID{}, false
	}
	return p.ids[i], true
}

// place returns where id is among the members.
func (p *peers) place(id wire.MemberID) (place int, ok bool) {
	return slices.BinarySearchFunc(p.ids, id, wire.MemberID.Compare)
}

// has reports whether id is among the members.
func (p *peers) has(id wire.MemberID) bool {
	_, ok := p.place(id)
	return ok
}

func (p *peers) count() int  { return max(len(p.ids), 1) }
func (p *peers) alone() bool { return len(p.ids) <= 1 }

// pass gives the token to another member, or keeps it where there is none.
func (m *Machine) pass(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case m.token.Seq == m.numbers.unsaved && !m.peers.alone():
		m.becomeSaving(now.Time)
		return out
	case !m.peers.alone():
		return m.becomeOffering(now, m.next(now.Time), out)
	case m.leaving:
		out = policy.AppendTell(out, NoteDropped, wire.MemberID{}, &m.token.Ref)
		m.guardian.Dropped()
		out = m.giveUp(policy.CauseDropped, out)
		m.becomeAbsent(now)
		return out
	}
	return m.serve(now, out)
}

// onNoAck goes on with a token that could not be passed on: a member that has become due meanwhile runs, whatever becomes of its
// offers. One that will be before the next offer can fail waits for that: it is as likely to succeed afterwards. One that hears
// nobody at all may be heard: it goes on telling its guardians that all is well, and nobody else will ever have the token. So it asks
// them.
func (m *Machine) onNoAck(now policy.Instant, out []policy.Effect) []policy.Effect {
	due := m.dueAt(now.Time)
	soon := !m.leaving && !m.elsewhere.running && due.Sub(now.Time) <= m.handoff.Patience()
	unheard := !m.heard && m.guarded() && !m.peers.alone()
	// One that is due again and again must not keep its token for that: it has run under this number.
	ran := m.numbers.granted == m.token.Seq
	switch {
	case unheard && (ran || !soon):
		m.becomeDoubting()
		return m.guardian.Probe(now.Time, &m.token, out)
	case soon && now.Time >= due:
		return m.serve(now, out)
	case soon:
		return m.becomeResting(now.Time, due, out)
	}
	return m.pass(now, out)
}

// answers reports whether a message shows that this member hears somebody: it answers what this member has said. Anything else may have
// been recorded and played back, and would keep the token of a member that hears nobody where it is.
func (m *Machine) answers(msg *wire.Message) bool {
	return m.handoff.Answers(msg) || m.guardian.Answers(msg)
}

// yield gives up a token because nobody was heard while it was offered and its guardians were asked. The token is gone before the
// guardians are told, so they never take one that is held. A silence that was this member's alone was no false alarm.
func (m *Machine) yield(now policy.Instant, out []policy.Effect) []policy.Effect {
	out = policy.AppendTell(out, NoteYielded, wire.MemberID{}, &m.token.Ref)
	m.handoff.Withdraw()
	m.silence.raised = 0
	out = m.giveUp(policy.CauseYielded, out)
	m.becomeAbsent(now)
	return m.guardian.Yield(now.Time, &m.token, out)
}

// stray is a step of the random walk: "instead of introducing an overlay topology we adopt a random walk approach"
// (abstract), here on the full mesh. It is uniform over the others, except those who failed a handoff a short while ago, as
// long as there are any.
func (m *Machine) stray(now policy.Time) wire.MemberID {
	var room [1 + len(m.avoid)]int
	room[0] = m.peers.rank
	without := m.avoid.appendPlaces(room[:1], m.peers.ids, now)
	if len(without) == len(m.peers.ids) {
		without = without[:1]
	}
	slices.Sort(without)
	drawn := m.draw(len(m.peers.ids) - len(without))
	for _, place := range without {
		if drawn >= place {
			drawn++
		}
	}
	return m.peers.ids[drawn]
}

// draw returns a uniform number below n, by multiplication; n is far too small for the bias of 2⁻⁶⁴ × n to show.
func (m *Machine) draw(n int) int {
	hi, _ := bits.Mul64(m.cfg.Entropy.Uint64(), uint64(n))
	return int(hi)
}

// avoidTimeouts is how long a member that failed a handoff is avoided, in handoff timeouts: about as long as membership
// takes to notice a crash. Where offers take longer, it is as long as those to all that are avoided.
const avoidTimeouts = 16

func (m *Machine) avoidFor() time.Duration {
	return max(m.timeouts(avoidTimeouts), times(len(m.avoid), m.handoff.Patience()))
}

// avoided remembers the last members that failed a handoff.
type avoided [4]struct {
	id    wire.MemberID
	until policy.Time
}

// add avoids id until the given time, in place of the one that would be forgotten first.
func (a *avoided) add(id wire.MemberID, until policy.Time) {
	a.forgive(id)
	place := 0
	for i := range a {
		if a[i].until < a[place].until {
			place = i
		}
	}
	a[place].id, a[place].until = id, until
}

// forgive stops avoiding id: it has taken part in a handoff.
func (a *avoided) forgive(id wire.MemberID) {
	for i := range a {
		if a[i].id == id {
			a[i].id, a[i].until = wire.MemberID{}, 0
		}
	}
}

// has reports whether id is to be avoided.
func (a *avoided) has(id wire.MemberID, now policy.Time) bool {
	for i := range a {
		if a[i].id == id {
			return now < a[i].until
		}
	}
	return false
}

// appendPlaces appends the places in ids of those who are to be avoided.
func (a *avoided) appendPlaces(places []int, ids []wire.MemberID, now policy.Time) []int {
	for i := range a {
		if now >= a[i].until {
			continue
		}
		if place, ok := slices.BinarySearchFunc(ids, a[i].id, wire.MemberID.Compare); ok {
			places = append(places, place)
		}
	}
	return places
}
