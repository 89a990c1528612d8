package kcopies

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// UseBackup (lines 38–42) is the owner's yes to MayRegenerate: the copy becomes the real token. It "updates count_Si by adding the
// number of nodes that S_i has detected as crashed, which ensures that old pending token messages that may arrive later to S_i will be
// discarded" (section 2.2). least is a count above which the owner knows all others to be, if it knows one; or zero. After a late answer
// there may be a reason no longer: then nothing happens.
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

// Settle is the whole of an owner whose detector never errs, as the papers' does: it answers MayRegenerate with UseBackup at once. It says how
// the token has come, received or revived; zero, if it has not.
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

// Discard drops the copy of a token that the owner knows to be lost, and every later message with a count up to the given one: the owner of
// another member makes a new token, and a copy of the old one would be a second.
func (m *Machine) Discard(count wire.Seq) {
	m.count = max(m.count, count)
	if m.token == Backup {
		m.becomeNone()
	}
}
