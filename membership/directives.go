package membership

// Broadcast gives a directive to all members of a gate, which this member need not have. A broadcast without Who is
// about a directive that another member has given. It does not block. The error names what is too long or not
// printable.
func (m *Membership) Broadcast(n Broadcast) error {
	return m.broadcasts.Give(n, m.peers.Me.Name, m.transport.me.Key)
}

// News returns a channel of capacity one that receives a value when [Membership.Broadcasts] has changed. It is never
// closed.
func (m *Membership) News() <-chan struct{} { return m.broadcasts.News }

// Broadcasts returns the newest broadcast of each gate of this member that has had a directive.
func (m *Membership) Broadcasts() []Broadcast { return m.broadcasts.All() }
