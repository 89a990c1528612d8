package broadcast

import (
	"cmp"
	"slices"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// A directive about a member says that it is forgotten: its host is gone for good, and counts no more among those that
// are down. Only the newest directive about a member counts, and the member itself gives a newer one when it is back.
// As with gates, every member keeps all of them, so one that comes later learns them too.

// MaxForgotten bounds the members about which there are directives; of more, the oldest are dropped.
const MaxForgotten = 64

// wants reports whether a broadcast of another member concerns this one. Nobody could give a newer directive than one
// with a stamp of the far future.
func (k *Store) wants(n *Signed) bool {
	if n.Member.IsZero() {
		return slices.Contains(k.gates, n.Gate)
	}
	return n.Directive.Stamp <= wire.LatestStamp(time.Now().UnixNano())
}

// dropOldest drops directives about members if there are too many.
func (k *Store) dropOldest() {
	all := k.members()
	for _, n := range all[:max(len(all)-MaxForgotten, 0)] {
		delete(k.newest, n.subject())
	}
}

// members returns the broadcasts about members, oldest first.
func (k *Store) members() (list []*Signed) {
	for about, n := range k.newest {
		if !about.member.IsZero() {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b *Signed) int {
		return cmp.Or(a.Directive.Compare(b.Directive), a.Member.Compare(b.Member))
	})
	return list
}

// Members returns the newest directive about each member, oldest first.
func (k *Store) Members() (list []Broadcast) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, n := range k.members() {
		list = append(list, n.Broadcast)
	}
	return list
}

// IsForgotten reports whether a member is forgotten.
func (k *Store) IsForgotten(id wire.MemberID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.newest[subject{member: id}]
	return n != nil && n.Directive.Until != 0
}
