package misra

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// KindWork is a message of the application: "the reception of an application message by a passive process makes it
// active again" (section 3.2). It goes along the ring, on the same link as the token. Its Load is the number of hops,
// in two bytes, for which the work may lead to more work.
const KindWork wire.Kind = 64

func wellFormed(m *wire.Message) bool {
	return kcopies.WellFormed(m) || m.Kind == KindWork && m.Token == wire.Ref{}
}

func budgetOf(l *wire.Load) int { return int(binary.BigEndian.Uint16(l[:])) }

// becomeActive begins a piece of work, or adds one to the work in progress.
func (m *Machine) becomeActive(now policy.Time, budget int, out []policy.Effect) []policy.Effect {
	if !m.active {
		m.active, m.budget = true, 0
		out = policy.AppendTell(out, NoteActive, wire.MemberID{}, nil)
	}
	m.black = true
	m.budget = max(m.budget, budget)
	m.until = now
	if m.cfg.Work > 0 {
		m.until += policy.Time(m.cfg.Entropy.Uint64() % uint64(2*m.cfg.Work))
	}
	return out
}

// becomePassive ends the work. Every second piece, on average, leads to work at the next member.
func (m *Machine) becomePassive(out []policy.Effect) []policy.Effect {
	m.active = false
	if m.budget > 0 && m.cfg.Entropy.Uint64()>>63 == 0 {
		if to, ok := m.next(); ok {
			work := wire.Message{Gate: m.Ring.Gate, Kind: KindWork, From: m.Ring.Ring[m.Ring.Self], To: m.Ring.Ring[to]}
			binary.BigEndian.PutUint16(work.Load[:], uint16(m.budget-1))
			out = policy.AppendSend(out, &work)
		}
	}
	out = policy.AppendTell(out, NotePassive, wire.MemberID{}, nil)
	if m.Copies.Token() == kcopies.Real && !m.terminated {
		return m.pass(out)
	}
	return out
}

// next is the first successor that is not known to have crashed.
func (m *Machine) next() (s kcopies.Site, ok bool) {
	for d := 1; d < len(m.Ring.Ring); d++ {
		if s = m.Ring.After(m.Ring.Self, d); !m.Copies.Suspects(s) {
			return s, true
		}
	}
	return 0, false
}
