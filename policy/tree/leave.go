package tree

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// The paper has no graceful end. A member that leaves ends its section. If others wait behind it, it waits for the
// token and passes it on. Then it is gone. Sites that still point to it find that out as after a crash.

// onLeave begins to stop this member.
func (m *Machine) onLeave(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.leaving, m.wanted = true, false
	switch {
	case m.running:
		return append(out, policy.Effect{Kind: policy.Stop})
	case m.idle():
		out = m.passAnywhere(now, out)
	}
	return out
}

// passAnywhere gives an idle token to another member, though none has asked for it.
func (m *Machine) passAnywhere(now policy.Instant, out []policy.Effect) []policy.Effect {
	for i, id := range m.cfg.Roster {
		if rank(i) != m.self && slices.Contains(m.peers, id) {
			m.last = rank(i)
			return m.sendTOKEN(now, link{rank: rank(i)}, out)
		}
	}
	return m.discard(now.Time, NoteDropped, policy.CauseDropped, out)
}

// maybeGo leaves if nothing keeps this member.
func (m *Machine) maybeGo(out []policy.Effect) []policy.Effect {
	if m.holds || m.req {
		return out
	}
	m.resetAlarm()
	out = policy.AppendTell(out, NoteLeft, wire.MemberID{}, nil)
	return append(out, policy.Effect{Kind: policy.Gone})
}
