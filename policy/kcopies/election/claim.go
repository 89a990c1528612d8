package election

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// claim is the data of a claim: S_claim in two bytes, elected in one.
type claim struct {
	// sClaim is S_claim, the candidate.
	sClaim kcopies.Site
	// elected is true if S_claim is the leader, and the claim goes round to tell all members.
	elected bool
}

func (c claim) data() (d kcopies.Data) {
	binary.BigEndian.PutUint16(d[:], uint16(c.sClaim))
	if c.elected {
		d[2] = 1
	}
	return d
}

func claimOf(d *kcopies.Data) claim {
	return claim{sClaim: kcopies.Site(binary.BigEndian.Uint16(d[:])), elected: d[2] != 0}
}

// claim sends this member's own claim, once.
func (m *Machine) claim(out []policy.Effect) []policy.Effect {
	if m.participates {
		return out
	}
	m.participates = true
	own := &m.claims[m.ring.Self]
	own.Issue(0)
	out = policy.AppendTell(out, NoteClaimed, wire.MemberID{}, nil)
	return send(own, claim{sClaim: m.ring.Self}, out)
}

func send(object *kcopies.Machine, c claim, out []policy.Effect) []policy.Effect {
	data := c.data()
	return object.SafeSendToken(&data, out)
}

// ended handles the result of a call for a claim. The detector never errs, so this member may regenerate the claim at
// once.
func (m *Machine) ended(object *kcopies.Machine, end *kcopies.Outcome, out []policy.Effect) []policy.Effect {
	came, out := object.Settle(end, out)
	switch {
	case came == 0:
		return out
	case came == policy.CauseRevived:
		return m.updateToken(object, claimOf(&end.Data), end.Crashed, out)
	}
	return m.onClaim(object, claimOf(&end.Data), out)
}

// updateToken is UpdateToken (lines 47–49): "Sj can be replaced by Si in the corresponding <TOKEN> (claim) message in
// order to ensure the election of a non faulty node". S_claim is in D, where all others have crashed, only after its
// claim has returned to it.
func (m *Machine) updateToken(object *kcopies.Machine, c claim, crashed int, out []policy.Effect) []policy.Effect {
	if !m.crashed(c.sClaim, crashed) {
		return m.onClaim(object, c, out)
	}
	out = policy.AppendTell(out, NoteReplaced, m.ring.Ring[c.sClaim], nil)
	m.participates = true
	return send(object, claim{sClaim: m.ring.Self}, out)
}

// crashed reports whether a site is one of the given number of sites before this one.
func (m *Machine) crashed(s kcopies.Site, many int) bool {
	before := m.ring.Distance(s, m.ring.Self)
	return before >= 1 && before <= many
}

// onClaim is Chang and Roberts' rule: a better claim goes on, a worse one does not, and "a node considers itself the
// new leader when it receives its own claim message".
func (m *Machine) onClaim(object *kcopies.Machine, c claim, out []policy.Effect) []policy.Effect {
	switch {
	case c.elected && c.sClaim == m.ring.Self:
		return m.learn(c.sClaim, out) // All members know. The copies behind this member watch it.
	case c.elected:
		out = m.learn(c.sClaim, out)
	case c.sClaim == m.ring.Self:
		out = m.learn(c.sClaim, out)
		c.elected = true
	case c.sClaim < m.ring.Self:
		out = policy.AppendTell(out, NoteKept, m.ring.Ring[c.sClaim], nil)
		return m.claim(out)
	}
	return send(object, c, out)
}

// learn records the leader. The announcement of a leader that has crashed may follow the announcement of the next one,
// and is then ignored.
func (m *Machine) learn(leader kcopies.Site, out []policy.Effect) []policy.Effect {
	if m.currentLeader == int(leader) || m.claims[leader].Suspects(leader) {
		return out
	}
	m.currentLeader = int(leader)
	return policy.AppendTell(out, NoteLeader, m.ring.Ring[leader], nil)
}
