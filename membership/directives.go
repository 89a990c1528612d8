package membership

import "github.com/wanderd/wanderd/wire"

// Broadcast gives a directive to all members of a gate, which this member need not have, or one about a member. A
// broadcast without Who is about a directive that another member has given. It does not block. The error names what is
// too long or not printable.
func (m *Membership) Broadcast(n Broadcast) error {
	return m.broadcasts.Give(n, m.peers.Me.Name, m.transport.me.Key)
}

// News returns a channel of capacity one that receives a value when [Membership.Broadcasts] has changed. It is never
// closed.
func (m *Membership) News() <-chan struct{} { return m.broadcasts.News }

// Broadcasts returns the newest broadcast of each gate of this member that has had a directive.
func (m *Membership) Broadcasts() []Broadcast { return m.broadcasts.All() }

// Forgotten returns the newest directive about each member, oldest first.
func (m *Membership) Forgotten() []Broadcast { return m.broadcasts.Members() }

// IsForgotten reports whether a member is forgotten: while it is gone, it is in no list.
func (m *Membership) IsForgotten(id wire.MemberID) bool { return m.broadcasts.IsForgotten(id) }
