package admission

import (
	"errors"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

// MaxUnverified bounds the members whose certificate is missing, some 600 bytes each; this member will hear again of
// those that it forgets.
const MaxUnverified = 1024

// Unverified are the members that trusted members speak of, but whose certificates are missing here. The statements
// about them are kept until the certificate is here, because memberlist refuses them until then, and no member repeats
// them soon.
type Unverified struct {
	// Ring signals that a member has to be asked; its capacity is one.
	Ring chan struct{}
	self wire.MemberID

	mu   sync.Mutex
	list map[wire.MemberID]*UnverifiedMember
}

// UnverifiedMember is a member whose certificate is missing.
type UnverifiedMember struct {
	ID   wire.MemberID
	Name string
	addr netip.AddrPort
	// said is the last statement about the member, heard when that statement came.
	said  packets.Alive
	heard time.Time
	// from is the member to ask: the last one that spoke of it; the zero value means any member.
	from wire.MemberID
	// tries is how many members have been asked in vain. toOwner is true if its owner has to be asked. until is zero,
	// or the time before which the owner, which was asked, is not asked again.
	tries   int
	toOwner bool
	until   time.Time
}

// NewUnverified returns a set without members. It never keeps statements about self.
func NewUnverified(self wire.MemberID) *Unverified {
	return &Unverified{self: self, Ring: make(chan struct{}, 1), list: make(map[wire.MemberID]*UnverifiedMember)}
}

// Hear remembers what a trusted member says of another one, if the other one may be trusted once its certificate is
// here.
func (u *Unverified) Hear(a *Admission, from wire.MemberID, said *packets.Alive, now time.Time) {
	name, id, err := identity.ParseNodeName(string(said.Node))
	if err != nil || id == u.self || a.Knows(name, id) {
		return
	}
	meta, err := peers.ParseMetadata(said.Meta) // its signature is not checked here
	if err != nil || wire.MemberIDOf(meta.Key) != id ||
		!errors.Is(a.Judge(name, id, meta.Key, nil), identity.ErrNoCertificate) {
		return
	}
	addr, err := said.At()
	if err != nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	m := u.list[id]
	if m == nil {
		u.makeRoom()
		m = &UnverifiedMember{ID: id}
		u.list[id] = m
	}
	if m.toOwner && !m.until.IsZero() && !now.Before(m.until) {
		m.toOwner, m.until, m.tries = false, time.Time{}, 0
	}
	m.Name, m.addr, m.said, m.heard, m.from = name, addr, said.Clone(), now, from
	if !m.toOwner {
		timing.Signal(u.Ring)
	}
}

// makeRoom forgets one of them if there are too many. It takes one that was named by the member that names the most.
func (u *Unverified) makeRoom() {
	if len(u.list) < MaxUnverified {
		return
	}
	count := make(map[wire.MemberID]int)
	for _, m := range u.list {
		count[m.from]++
	}
	var out *UnverifiedMember
	for _, m := range u.list {
		if out == nil || count[m.from] > count[out.from] {
			out = m
		}
	}
	delete(u.list, out.ID)
}

// Leave forgets a member whose certificate is here. It returns the last statement about it, unless that is too old.
func (u *Unverified) Leave(name string, id wire.MemberID, now time.Time) (said packets.Alive, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := u.list[id]
	if m == nil || m.Name != name {
		return said, false
	}
	delete(u.list, id)
	return m.said, now.Sub(m.heard) < MeetAgain
}

// Wanted returns the members whose certificates are to be requested, and the member to ask: one that has spoken of some
// of them.
func (u *Unverified) Wanted() (from wire.MemberID, list map[wire.MemberID]UnverifiedMember) {
	u.mu.Lock()
	defer u.mu.Unlock()
	speakers := make(map[wire.MemberID]bool)
	list = make(map[wire.MemberID]UnverifiedMember)
	for _, m := range u.list {
		if !m.toOwner {
			list[m.ID] = *m
			speakers[m.from] = true
		}
	}
	// a member that speaks of many and does not answer must not block the others
	for _, id := range peers.Some(slices.Collect(maps.Keys(speakers)), 1) {
		from = id
	}
	return from, list
}

// meetTries is how many members may be asked for a certificate in vain before its owner is.
const meetTries = 3

// Asked records how a member has answered a question for certificates. If it has no certificate of the members it has
// spoken of, it no longer trusts them: then their owners are asked. brought is true if the answer had some
// certificates; it may have had no room for the others.
func (u *Unverified) Asked(list map[wire.MemberID]UnverifiedMember, from wire.MemberID, answered, brought bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id := range list {
		m, nobody := u.list[id], wire.MemberID{}
		switch {
		case m == nil || brought || m.from != from && m.from != nobody:
		case answered && m.from != nobody:
			m.toOwner = true
		default:
			m.from = nobody
			m.tries++
			m.toOwner = m.tries >= meetTries
		}
	}
	for _, m := range u.list {
		if !m.toOwner || m.until.IsZero() {
			timing.Signal(u.Ring)
		}
	}
}

// Owners returns up to n members that have to be asked for their own certificates. After that they are left alone for a
// while.
func (u *Unverified) Owners(n int, now time.Time) (list []netip.AddrPort) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, m := range u.list {
		if m.toOwner && m.until.IsZero() && len(list) < n {
			m.until = now.Add(MeetAgain)
			list = append(list, m.addr)
		}
	}
	return list
}

// MeetAgain is how long a member that was asked for its own certificate is left alone.
const MeetAgain = 10 * time.Second
