package misra

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// ended does what a call of k-copies led to. The detector never errs, so this member may regenerate the token at once.
func (m *Machine) ended(end *kcopies.Outcome, from wire.MemberID, out []policy.Effect) []policy.Effect {
	came, out := m.token.Settle(end, out)
	if came == 0 {
		return out
	}
	m.passiveCount = PassiveCount(&end.Data)
	if came == policy.CauseRevived {
		m.updateToken(end.Crashed)
	}
	return m.onToken(came, from, out)
}

// updateToken is UpdateToken (lines 44–46): "passive_count ← passive_count + (#(D) − 1)", and N if that is more.
func (m *Machine) updateToken(crashed int) { m.count(crashed) }

// count adds to passive_count, up to N.
func (m *Machine) count(passive int) {
	m.passiveCount = min(m.passiveCount+passive, len(m.cfg.Ring.Ring))
}

// onToken counts this member, and sends the token on when it is passive.
func (m *Machine) onToken(how policy.Cause, from wire.MemberID, out []policy.Effect) []policy.Effect {
	ref := m.token.Ref()
	out = policy.AppendTook(out, how, from, &ref)
	if m.active {
		return out
	}
	return m.pass(out)
}

// pass is what the holder does that is passive: "if the latter was already passive when it receives the token, it adds one to passive_count;
// otherwise it restarts passive_count to 1". With N in a row the application has terminated, and the token stays.
func (m *Machine) pass(out []policy.Effect) []policy.Effect {
	if m.black {
		m.black, m.passiveCount = false, 1
	} else {
		m.count(1)
	}
	ref := m.token.Ref()
	if m.passiveCount == len(m.cfg.Ring.Ring) {
		m.terminated = true
		return policy.AppendTell(out, NoteTerminated, wire.MemberID{}, &ref)
	}
	out = policy.AppendGave(out, policy.CausePassed, m.cfg.Ring.Ring[m.cfg.Ring.Successor()], &ref)
	data := dataOf(m.passiveCount)
	return m.token.SafeSendToken(&data, out)
}

// PassiveCount is what a TOKEN message carries: the first two bytes of its data.
func PassiveCount(d *kcopies.Data) int { return int(binary.BigEndian.Uint16(d[:])) }

func dataOf(passiveCount int) (d kcopies.Data) {
	binary.BigEndian.PutUint16(d[:], uint16(passiveCount))
	return d
}
