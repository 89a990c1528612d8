package kcopies

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// UseBackup (lines 38–42) is the owner's yes to MayRegenerate: the copy becomes the real token. It "updates count_Si by
// adding the number of nodes that S_i has detected as crashed, which ensures that old pending token messages that may
// arrive later to S_i will be discarded" (section 2.2). least is a lower bound of the new count if the owner knows one,
// else zero. If the answer is late and its reason is gone, nothing happens.
func (m *Machine) UseBackup(least wire.Seq, end *Outcome, out []policy.Effect) []policy.Effect {
	if !m.Alone() {
		return out
	}
	crashed, st := m.D()-1, m.st
	m.count = max(m.count+wire.Seq(crashed), least) // line 39
	// Line 40, and "D ← {S_i}" of k-copies, which Mais valem lacks.
	m.become(Real, m.cfg.Self)
	m.deliver(Regenerated, &m.data, end) // lines 41 and 42
	end.Crashed = crashed
	return m.tell(NoteUsedBackup, m.cfg.Ring[st], out)
}

// Settle answers MayRegenerate with UseBackup at once. An owner needs no more if its detector never errs, like the
// papers' detector. Settle returns how the token has come: received or revived, or zero if it has not come.
func (m *Machine) Settle(end *Outcome, out []policy.Effect) (came policy.Cause, effects []policy.Effect) {
	if end.Ending == MayRegenerate {
		out = m.UseBackup(0, end, out)
	}
	switch end.Ending {
	case Delivered:
		return policy.CauseReceived, out
	case Regenerated:
		return policy.CauseRevived, out
	case Pending, MayRegenerate:
	}
	return 0, out
}

// Discard drops the copy of a token that the owner knows to be lost, and every later message with a count up to the
// given one. It is for when the owner of another member makes a new token: a copy of the old token would be a second
// one.
func (m *Machine) Discard(count wire.Seq) {
	m.count = max(m.count, count)
	if m.token == Backup {
		m.becomeNone()
	}
}
