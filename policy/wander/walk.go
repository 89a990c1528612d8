package wander

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Walk chooses the next member. The paper's is a random walk. The two others visit every live member once in a lap, in an order
// that every member can compute (a hash of gate, lap and member), so the token carries no list of visited members. A lap is N hops; a
// random walk needs N ln N hops to visit all members.
//
// Members need not agree on the view or on the walk: a member that is missing in one view is skipped by that holder only.
type Walk uint8

const (
	// Random is the paper's: any other member, all equally likely.
	Random Walk = iota
	// Shuffle uses a new order for each lap: a member waits for at most two laps.
	Shuffle
	// Sweep keeps one order: every member waits for one lap. A member that is due within a lap keeps the token until then.
	Sweep
)

// Walks returns all walks.
func Walks() []Walk { return []Walk{Random, Shuffle, Sweep} }

// String returns the name used in configurations.
func (w Walk) String() string {
	return policy.Name([]string{Random: "random", Shuffle: "shuffle", Sweep: "sweep"}, w)
}

// next returns the member that gets the token: one that asked for it, one that others could not reach, or the next in the walk.
func (m *Machine) next(now policy.Time) wire.MemberID {
	if m.cfg.Walk == Random {
		return m.stray(now)
	}
	m.unmix(now)
	if id, ok := m.takeAsker(now); ok {
		m.tries = 0
		return id
	}
	if id, tries, ok := m.takeMissed(now); ok {
		m.tries = tries
		return id
	}
	m.tries = 0
	if id, ok := m.successor(now); ok {
		return id
	}
	route := RouteOf(&m.token.Load)
	route.Lap++
	route.Cursor = 0
	SetRoute(&m.token.Load, &route)
	if id, ok := m.successor(now); ok {
		return id
	}
	// All other members are avoided. The new lap was needless, but does no harm.
	return m.stray(now)
}

// successor moves the cursor to the next member of this lap that is not avoided. Members that it skips are missed.
func (m *Machine) successor(now policy.Time) (wire.MemberID, bool) {
	for {
		id, ok := m.follow()
		if !ok || !m.avoid.has(id, now) {
			return id, ok
		}
		m.miss(id)
	}
}

// follow moves the cursor to the next other member of this lap.
func (m *Machine) follow() (wire.MemberID, bool) {
	r := RouteOf(&m.token.Load)
	var next placed
	var ok bool
	if m.shares() {
		next, ok = m.cfg.Laps.afterIn(m.arc(), m.peers.ids, m.order(r.Lap), r.Cursor, m.peers.rank)
	} else {
		next, ok = m.cfg.Laps.after(m.peers.ids, m.order(r.Lap), r.Cursor, m.peers.rank)
	}
	if !ok {
		return wire.MemberID{}, false
	}
	r.Cursor = next.at
	SetRoute(&m.token.Load, &r)
	return m.peers.ids[next.index], true
}

// takeMissed removes the missed member that has waited longest from the token's list. It leaves members that are not in this member's view,
// or that this member could not reach itself, to other holders.
func (m *Machine) takeMissed(now policy.Time) (id wire.MemberID, tries uint8, ok bool) {
	r := RouteOf(&m.token.Load)
	for i, tries := range r.Tries {
		if tries == 0 {
			break
		}
		id, ok := m.peers.byHint(r.Missed[i])
		if !ok || id == m.cfg.Self || m.avoid.has(id, now) {
			continue
		}
		r.Take(i)
		SetRoute(&m.token.Load, &r)
		return id, tries, true
	}
	return wire.MemberID{}, 0, false
}

// miss puts a member that this one could not reach onto the token's list: the next holders try it first. Otherwise, of two members that can never reach
// each other, the later one would starve. A member that several holders could not reach waits for the next lap. A member that is really gone soon leaves
// the views.
func (m *Machine) miss(id wire.MemberID) {
	if m.cfg.Walk == Random || m.tries >= MaxTries-1 {
		return
	}
	r := RouteOf(&m.token.Load)
	r.Miss(id.Hint(), m.tries+1)
	SetRoute(&m.token.Load, &r)
}

// order names the order of a lap. In a shuffle each token has its own order. With the same order, the tokens would soon follow each other, and the later
// ones would find no member due.
func (m *Machine) order(lap uint32) uint64 {
	name := uint64(lap) + uint64(m.cfg.Slot)<<32
	if m.cfg.Walk == Sweep {
		name = 0
	}
	return scramble(uint64(m.cfg.Gate) + scramble(name+1))
}

// place is a member's place in an order: a pseudo-random number, the same at every member. Zero is before all members.
func place(order uint64, id *wire.MemberID) uint64 {
	high, low := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	return max(scramble(scramble(order^high)^low), 1)
}

// scramble is the finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of x changes about half of the result's.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
