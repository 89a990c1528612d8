package wander

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Walk says where the token goes next. The paper's is a random walk. The two others visit every live member once in a lap,
// in an order that every member can compute for itself (a hash of gate, lap and member), so the token carries no list of
// whom it has visited: a lap is N hops, where a random walk needs N ln N of them to see everybody.
//
// Members need not agree on who is there, nor on the walk: who is missing in a view is left out by that member alone.
type Walk uint8

const (
	// Random is the paper's: any other member, each as likely.
	Random Walk = iota
	// Shuffle takes a fresh order for each lap: no wait is longer than two laps.
	Shuffle
	// Sweep keeps one order: every member waits for one lap. A member that is due within a lap keeps the token until then.
	Sweep
)

// Walks returns all walks, for lists of what there is.
func Walks() []Walk { return []Walk{Random, Shuffle, Sweep} }

// String returns the name used in configurations.
func (w Walk) String() string {
	switch w {
	case Random:
		return "random"
	case Shuffle:
		return "shuffle"
	case Sweep:
		return "sweep"
	}
	return fmt.Sprintf("Walk(%d)", uint8(w))
}

// next says who gets the token: somebody whom others have not reached, or who is next in the walk.
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
	// All the others are avoided. One lap has been begun for nothing, which harms nobody.
	return m.stray(now)
}

// successor moves the cursor to the next member of this lap that need not be avoided. Who is passed over is missed.
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

// takeMissed takes the member that waits longest for somebody who can reach it off the token's list. Who is not in this
// member's view, or was not reached by this member itself, is left to others.
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

// miss puts a member that this one has not reached onto the token's list: the next holders try it first. Two members that
// can never reach each other would otherwise starve the later of them, lap after lap. Whom several have tried in vain waits
// for the next lap; a member that is really gone soon leaves the views.
func (m *Machine) miss(id wire.MemberID) {
	if m.cfg.Walk == Random || m.tries >= MaxTries-1 {
		return
	}
	r := RouteOf(&m.token.Load)
	r.Miss(Hint(id), m.tries+1)
	SetRoute(&m.token.Load, &r)
}

// dueSoon reports whether a member that is not due yet does better to wait for that with the token: if the token comes a
// moment too early, the next chance is a whole lap later, and the resource is idle meanwhile. It pays only where the token
// comes at regular times, and one token is enough.
func (m *Machine) dueSoon(now, due policy.Time) bool {
	return m.cfg.Walk == Sweep && !m.elsewhere.waiting && due.Sub(now) <= times(m.lapLength(), m.cfg.Skip)
}

// order names the order of a lap. In a shuffle each token has its own: with the same one they would soon follow each other, and
// the later ones find nobody due.
func (m *Machine) order(lap uint32) uint64 {
	name := uint64(lap) + uint64(m.cfg.Slot)<<32
	if m.cfg.Walk == Sweep {
		name = 0
	}
	return scramble(uint64(m.cfg.Gate) + scramble(name+1))
}

// place is a member's place in an order: a number that is as good as random, the same at every member. Zero is before
// everybody.
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

// restFor is how long a token rests where it has nothing to do.
func (m *Machine) restFor(now, due policy.Time) time.Duration {
	if m.dueSoon(now, due) {
		return due.Sub(now)
	}
	return m.cfg.Skip
}
