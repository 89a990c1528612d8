package ring

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// takePlace finds this member in the roster. The first member has the token from the beginning, and the members after
// it have copies.
func (m *Machine) takePlace() {
	rank := slices.Index(m.cfg.Members, m.cfg.Self)
	if rank < 0 || len(m.cfg.Members) > MaxMembers {
		panic("ring: a member is in its roster, which has at most 65,536 members")
	}
	m.rank = kcopies.Site(rank)
	m.n, m.next, m.prev = 1, m.rank, m.rank
	cfg := &kcopies.Config{
		Gate: m.cfg.Gate, Ring: m.cfg.Members, Self: m.rank, K: m.cfg.Backups,
	}
	if !m.cfg.AsksFirst {
		cfg.ID = wire.TokenID{Generator: m.cfg.Members[0], Random: uint64(m.cfg.Gate)}
	}
	first := token{tour: m.tour}
	if m.copies = kcopies.New(cfg, 0, first.data()); m.cfg.Rejoins {
		m.copies = kcopies.NewObject(cfg)
	}
}

// onPeersChanged finds the live neighbours, and tells package kcopies which members have crashed.
func (m *Machine) onPeersChanged(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	prev := m.prev
	m.look(ev.Peers)
	if !m.placed {
		return m.takeUp(now, out)
	}
	var end kcopies.Outcome
	out = m.copies.Suspect(ev.Peers, &end, out)
	switch {
	case end.Ending != kcopies.Pending:
		return m.onCopies(now, wire.MemberID{}, &end, out)
	case m.prev != prev && !m.sees(prev, ev.Peers):
		return m.call(now, out)
	case m.state == resting:
		return m.moveOn(now, out)
	}
	return out
}

func (m *Machine) look(live []wire.MemberID) {
	size := len(m.cfg.Members)
	m.n, m.next, m.prev = 1, m.rank, m.rank
	for step := 1; step < size; step++ {
		rank := kcopies.Site((int(m.rank) + step) % size)
		if !m.sees(rank, live) {
			continue
		}
		m.n++
		m.prev = rank
		if m.next == m.rank {
			m.next = rank
		}
	}
}

func (m *Machine) sees(rank kcopies.Site, live []wire.MemberID) bool {
	_, found := slices.BinarySearchFunc(live, m.cfg.Members[rank], wire.MemberID.Compare)
	return found
}

// onLeave passes the token on, and leaves. A run in progress is stopped first.
func (m *Machine) onLeave(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.leaving = true
	switch m.state {
	case running:
		ref := m.copies.Ref()
		return append(out, policy.Effect{Kind: policy.Stop, Token: ref})
	case saving:
		return m.deny(now, out)
	case resting:
		return m.moveOn(now, out)
	case absent, offering, gone:
	}
	return out
}

// leaveIfDone makes this member leave when nothing keeps it any longer. If no other member can take the token, the
// token is discarded.
func (m *Machine) leaveIfDone(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case !m.leaving || m.state != absent && m.state != resting:
		return out
	case m.udp != nil && m.n > 1:
		if quiet, ok := m.udp.handoff.QuietAt(); !ok || now.Time < quiet || len(m.udp.outbox) > 0 {
			return out
		}
	}
	if m.holds() {
		ref := m.copies.Ref()
		out = policy.AppendGave(out, policy.CauseDropped, wire.MemberID{}, &ref)
	}
	m.become(gone)
	return append(out, policy.Effect{Kind: policy.Gone})
}
