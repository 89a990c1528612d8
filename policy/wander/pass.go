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
	i, ok := slices.BinarySearchFunc(p.ids, hint, func(id wire.MemberID, h uint32) int { return cmp.Compare(id.Hint(), h) })
	if !ok {
		return wire.MemberID{}, false
	}
	return p.ids[i], true
}

func (p *peers) hasHint(hint uint32) bool {
	_, ok := p.byHint(hint)
	return ok
}

// place returns the place of id among the members.
func (p *peers) place(id wire.MemberID) (place int, ok bool) {
	return slices.BinarySearchFunc(p.ids, id, wire.MemberID.Compare)
}

func (p *peers) has(id wire.MemberID) bool {
	_, ok := p.place(id)
	return ok
}

func (p *peers) count() int  { return max(len(p.ids), 1) }
func (p *peers) alone() bool { return len(p.ids) <= 1 }

// pass offers the token to another member, or keeps it if there is none, or if this member must not use it.
func (m *Machine) pass(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case m.shelves(now.Time) && !m.leaving:
		return m.becomeResting(now.Time, m.schedule.unshelvedAt(&m.cfg), out)
	case m.numbers.mustSave(m.token.Seq) && !m.peers.alone():
		m.becomeSaving(now.Time)
		return out
	case !m.peers.alone():
		return m.becomeOffering(now, m.next(now.Time), out)
	case m.leaving:
		out = policy.AppendTell(out, NoteDropped, wire.MemberID{}, &m.token.Ref)
		m.guardian.EndDoubt()
		out = m.giveUp(policy.CauseDropped, out)
		m.becomeAbsent(now)
		return out
	}
	return m.serve(now, out)
}

// onNoAck continues with a token whose offer failed. A member that has become due meanwhile runs, whether its offers succeed or not. If it will be due
// before the next offer can fail, it waits: the offer is as likely to succeed afterwards. A member that hears no other one may still be heard: its beats
// would keep its guardians calm, and no other member would ever get the token. So it asks its guardians.
func (m *Machine) onNoAck(now policy.Instant, out []policy.Effect) []policy.Effect {
	due := m.dueAt(now.Time)
	soon := !m.leaving && !m.schedule.runsElsewhere() && due.Sub(now.Time) <= m.handoff.Patience()
	unheard := !m.heard && m.token.Guarded() && !m.peers.alone()
	// A member that is due again and again must not keep its token: it has run under this number.
	ran := m.numbers.wasGranted(m.token.Seq)
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

// answers reports whether a message proves that this member hears another one: it answers a message of this member. Any other message may
// be a replay, and must not let a member that hears no other one keep its token.
func (m *Machine) answers(msg *wire.Message) bool {
	return m.handoff.Answers(msg) || m.guardian.Answers(msg) || m.replies(msg)
}

// yield gives up a token because no other member was heard while it was offered and its guardians were asked. This member gives it up before it tells the
// guardians, so they never take a token that is held. Silences of this member alone were no false alarms, so Δgen is Δmax again.
func (m *Machine) yield(now policy.Instant, out []policy.Effect) []policy.Effect {
	out = policy.AppendTell(out, NoteYielded, wire.MemberID{}, &m.token.Ref)
	m.handoff.Withdraw()
	m.silence.raised = 0
	out = m.giveUp(policy.CauseYielded, out)
	m.becomeAbsent(now)
	return m.guardian.Yield(now.Time, &m.token, out)
}

// stray is a step of the random walk: "instead of introducing an overlay topology we adopt a random walk approach"
// (abstract), here on the full mesh. It is uniform over the other members, without those that failed a handoff recently, as long as
// any are left.
func (m *Machine) stray(now policy.Time) wire.MemberID {
	var room [1 + len(m.avoid)]int
	room[0] = m.peers.rank
	without := m.avoid.appendPlaces(room[:1], &m.peers, now)
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

// avoidTimeouts is how long a member that failed a handoff is avoided, in handoff timeouts: about as long as membership takes to notice
// a crash. If offers take longer, a member is avoided for as long as offers to all avoided members take.
const avoidTimeouts = 16

func (m *Machine) avoidFor() time.Duration {
	return max(m.timeouts(avoidTimeouts), policy.Times(len(m.avoid), m.handoff.Patience()))
}

// avoided remembers the last members that failed a handoff.
type avoided [4]struct {
	id    wire.MemberID
	until policy.Time
}

// add avoids id until the given time, in place of the member that would be forgotten first.
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

// has reports whether id is avoided.
func (a *avoided) has(id wire.MemberID, now policy.Time) bool {
	for i := range a {
		if a[i].id == id {
			return now < a[i].until
		}
	}
	return false
}

// appendPlaces appends the places of the avoided members in a view.
func (a *avoided) appendPlaces(places []int, view *peers, now policy.Time) []int {
	for i := range a {
		if now >= a[i].until {
			continue
		}
		if place, ok := view.place(a[i].id); ok {
			places = append(places, place)
		}
	}
	return places
}
