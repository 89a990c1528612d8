package misra

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// hear gives the token an event. If the token comes, it counts this member, and goes on when this member is passive.
func (m *Machine) hear(ev *policy.Event, out []policy.Effect) []policy.Effect {
	var end kcopies.Outcome
	came, out := m.Hear(ev, &end, out)
	if came == 0 {
		return out
	}
	m.passiveCount = PassiveCount(&end.Data)
	if came == policy.CauseRevived {
		// UpdateToken (lines 44–46): "passive_count ← passive_count + (#(D) − 1)", but at most N
		m.count(end.Crashed)
	}
	if m.active {
		return out
	}
	return m.pass(out)
}

// count adds to passive_count, up to N.
func (m *Machine) count(passive int) {
	m.passiveCount = min(m.passiveCount+passive, len(m.Ring.Ring))
}

// pass is what a passive holder does: "if the latter was already passive when it receives the token, it adds one to
// passive_count; otherwise it restarts passive_count to 1". With N in a row the application has terminated, and the
// token stays.
func (m *Machine) pass(out []policy.Effect) []policy.Effect {
	if m.black {
		m.black, m.passiveCount = false, 1
	} else {
		m.count(1)
	}
	if m.passiveCount == len(m.Ring.Ring) {
		m.terminated = true
		ref := m.Copies.Ref()
		return policy.AppendTell(out, NoteTerminated, wire.MemberID{}, &ref)
	}
	var data kcopies.Data
	binary.BigEndian.PutUint16(data[:], uint16(m.passiveCount))
	return m.Pass(&data, out)
}

// PassiveCount is what a TOKEN message carries: the first two bytes of its data.
func PassiveCount(d *kcopies.Data) int { return int(binary.BigEndian.Uint16(d[:])) }
