package ring

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// takePlace finds this member in the roster.
func (m *Machine) takePlace() {
	rank := slices.Index(m.cfg.Members, m.cfg.Self)
	if rank < 0 || len(m.cfg.Members) > MaxMembers {
		panic("ring: a member is in its roster, which has at most 65,536 members")
	}
	m.rank = uint16(rank)
	m.n, m.next, m.prev = 1, m.rank, m.rank
}

// onPeersChanged finds the live neighbours. The first member of the roster makes the token when it sees all others.
func (m *Machine) onPeersChanged(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	live := func(rank uint16) bool {
		_, found := slices.BinarySearchFunc(ev.Peers, m.cfg.Members[rank], wire.MemberID.Compare)
		return found
	}
	size := len(m.cfg.Members)
	after := func(rank, steps int) uint16 { return uint16((rank + steps) % size) }
	m.n, m.next, m.prev = 1, m.rank, m.rank
	for step := 1; step < size; step++ {
		if rank := after(int(m.rank), step); live(rank) {
			m.n++
			m.prev = rank
			if m.next == m.rank {
				m.next = rank
			}
		}
	}
	switch {
	case m.rank == 0 && !m.met && m.n == size:
		return m.mint(now, out)
	case m.state == resting:
		return m.moveOn(now, out)
	}
	return out
}

// mint makes the token.
func (m *Machine) mint(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.T = token{Ref: wire.Ref{
		ID:  wire.TokenID{Birth: now.Wall, Generator: m.cfg.Self, Random: m.cfg.Entropy.Uint64()},
		Seq: m.seq.NextEpoch(),
	}}
	m.seq = m.T.Seq
	out = policy.AppendTook(out, policy.CauseMade, wire.MemberID{}, &m.T.Ref)
	return m.begin(now, m.meet(out))
}

// meet announces the first token that this member meets.
func (m *Machine) meet(out []policy.Effect) []policy.Effect {
	if m.met {
		return out
	}
	m.met = true
	return append(out, policy.Effect{Kind: policy.Announce})
}

// onLeave passes the token on, and goes. A run ends first.
func (m *Machine) onLeave(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.leaving = true
	switch m.state {
	case running:
		return append(out, policy.Effect{Kind: policy.Stop, Token: m.T.Ref})
	case saving:
		return m.deny(now, out)
	case resting:
		return m.leave(m.moveOn(now, out))
	case absent:
		return m.leave(out)
	case gone:
	}
	return out
}

// leave ends this member's part. A token that nobody is there to take is dropped.
func (m *Machine) leave(out []policy.Effect) []policy.Effect {
	if m.holds() {
		out = policy.AppendGave(out, policy.CauseDropped, wire.MemberID{}, &m.T.Ref)
	}
	m.become(gone)
	return append(out, policy.Effect{Kind: policy.Gone})
}
