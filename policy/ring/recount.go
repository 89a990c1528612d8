package ring

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// After a crash the token's counter stays wrong: it counts a dead requester, and it does not count a request that was
// lost with a member. In D a member that has let a lost request pass (M_p = 1) stops the requests behind it. In
// Martin's protocol a member that has asked a dead member does not ask again. So the token makes one recounting tour: n
// − 1 moves, on which it serves all waiting members. It forgets its old count, and a request made before the tour came
// to its member is no longer counted.
//
// A regenerated token begins with a tour. A crash may also lose requests while the token is elsewhere: then the member
// after the crashed one calls for a tour. A member that comes back calls, too, because the others may not have noticed
// its short absence. A call goes from member to next until it meets the token; no member stops it.
//
// A call and the token do not overtake each other. If a call comes back to its member twice, and the token has not come
// there meanwhile, there is no token: more than k members in a row have crashed, or a holder has come back before the
// others missed it. (The first round lets a token arrive that was sent past a member that has just come.) Of several
// members that call, the first in the roster makes the new token: it replaces the others' calls by its own. In the
// second round all members discard their copies: otherwise an old copy would become a second token when S_T crashes
// later.

// takeUp begins this member's part: in the first life of a fleet when all members are live, in a later life as soon as
// one other member is. The first member of the roster has the token.
func (m *Machine) takeUp(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case m.cfg.Rejoins && m.n > 1:
		m.placed = true
		return m.call(now, out)
	case m.cfg.Rejoins || m.n < len(m.cfg.Members):
		return out
	}
	m.placed = true
	if m.rank > 0 {
		return out
	}
	m.T = token{tour: m.tour}
	ref := m.copies.Ref()
	return m.serve(now, policy.AppendTook(out, policy.CauseMade, m.cfg.Self, &ref))
}

// call calls for a tour. The reason is that the member before this one has crashed, that this member has come back, or
// that a handoff from the member before it has brought no token.
func (m *Machine) call(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case m.state == offering:
		m.udp.calls = true // A token on offer cannot be changed.
		return out
	case m.holds():
		return m.beginTour(now, out)
	case m.n == 1:
		return m.remake(now, request{tour: m.tour, count: m.copies.Count()}, out)
	}
	m.calling = uint32(policy.Draw(m.cfg.Entropy)) | 1
	return m.send(request{call: m.calling, origin: m.rank, tour: m.tour, count: m.copies.Count()}, out)
}

func (m *Machine) onCall(now policy.Instant, r request, out []policy.Effect) []policy.Effect {
	r.count, r.tour = max(r.count, m.copies.Count()), max(r.tour, m.tour)
	own := r.origin == m.rank
	switch {
	case m.holds():
		return m.beginTour(now, out)
	case own && r.call == m.calling && r.round:
		return m.remake(now, r, out)
	case own && r.call == m.calling:
		r.round = true
	case own && m.cfg.Request == Always:
		return out // The token exists, and visits all members.
	case own && m.cfg.AsksFirst:
		return out // An earlier call: there may be no token for long, and no call may circle for ever.
	case m.calling != 0 && r.origin > m.rank:
		r.origin, r.call, r.round = m.rank, m.calling, false
	}
	if r.round {
		m.copies.Discard(r.count)
	}
	return m.send(r, out)
}

func (m *Machine) beginTour(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.recount()
	if m.state == resting {
		return m.moveOn(now, out)
	}
	return out
}

// recount makes the token forget what it has counted. In D the tour is a check-tour.
func (m *Machine) recount() {
	m.calling = 0
	switch m.cfg.Request {
	case Always:
	case Martin:
		m.asked, m.T.left = false, m.others()
	case Q:
		m.T.counter, m.T.left = 0, m.others()
		m.T.tour++
		m.tour = m.T.tour
	case D:
		m.T.counter, m.T.active, m.mp = m.others(), false, false
	}
}

// mayRegenerate handles the crash of all members that have held the token since its copy came here. "May I
// regenerate?": with AsksFirst the gate answers; otherwise the detector has answered yes.
func (m *Machine) mayRegenerate(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.cfg.AsksFirst {
		m.asks = true
		return out
	}
	var end kcopies.Outcome
	out = m.copies.UseBackup(0, &end, out)
	return m.onCopies(now, wire.MemberID{}, &end, out)
}

// remake makes a token without a copy, because the call has found none.
func (m *Machine) remake(now policy.Instant, r request, out []policy.Effect) []policy.Effect {
	if m.cfg.AsksFirst {
		m.asks = true
		return out
	}
	m.copies.Issue(r.count + wire.Seq(len(m.cfg.Members)))
	return m.begin(now, r.tour, out)
}

// begin begins the tour of a token that was just made.
func (m *Machine) begin(now policy.Instant, tour uint32, out []policy.Effect) []policy.Effect {
	m.T = token{tour: tour}
	ref := m.copies.Ref()
	out = policy.AppendTell(out, NoteRemade, wire.MemberID{}, &ref)
	return m.revive(now, out)
}

func (m *Machine) revive(now policy.Instant, out []policy.Effect) []policy.Effect {
	ref := m.copies.Ref()
	out = policy.AppendTook(out, policy.CauseRevived, wire.MemberID{}, &ref)
	m.recount()
	return m.serve(now, out)
}
