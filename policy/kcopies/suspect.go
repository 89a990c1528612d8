package kcopies

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Suspect is ReceiveSuspected (lines 34–37). live are the members that have not crashed, as far as the detector has
// told this member, in the order of their identities: all others are in F. The slice is kept, and must not be changed.
// Members that come back leave F.
func (m *Machine) Suspect(live []wire.MemberID, end *Outcome, out []policy.Effect) []policy.Effect {
	m.live = live
	for j := range m.cfg.Ring {
		if m.Suspects(Site(j)) {
			return m.ask(end, out)
		}
	}
	m.live = nil
	return m.ask(end, out)
}

// Suspects reports whether S_j ∈ F.
func (m *Machine) Suspects(j Site) bool {
	if m.live == nil {
		return false
	}
	_, alive := slices.BinarySearchFunc(m.live, m.cfg.Ring[j], wire.MemberID.Compare)
	return !alive
}

// Alone reports whether this member would regenerate the token: it has a copy, and D/F = {S_i} (lines 29 and 36). With
// NONE or REAL a member regenerates nothing, whichever members are suspected. Sites outside D do not count.
func (m *Machine) Alone() bool {
	if m.token != Backup {
		return false
	}
	// "It could just monitor the closest predecessor in its D_Si that it has not detected to be faulty" (section 2.2).
	for d := 1; d < m.D(); d++ {
		if !m.Suspects(m.cfg.After(m.cfg.Self, len(m.cfg.Ring)-d)) {
			return false
		}
	}
	return true
}

// ask asks the owner whether this member may regenerate the token.
func (m *Machine) ask(end *Outcome, out []policy.Effect) []policy.Effect {
	if !m.Alone() {
		return out
	}
	end.Ending = MayRegenerate
	return m.tell(NoteMayRegenerate, m.cfg.Ring[m.st], out)
}
