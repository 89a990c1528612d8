package membership

import (
	"crypto/ed25519"
	"fmt"

	"github.com/wanderd/wanderd/membership/identity"
)

// Notify gives an order to all members of a gate, which this member need not have. A broadcast without Who is of an
// order that another member has given. It does not block. The error names what is too long or not printable.
func (m *Membership) Notify(n Broadcast) error {
	for _, text := range []struct {
		what, text string
		most       int
	}{{"who gives the order", n.Who, MaxWho}, {"the reason", n.Reason, MaxReason}} {
		switch {
		case len(text.text) > text.most:
			return fmt.Errorf("%s has %d bytes, at most %d are allowed", text.what, len(text.text), text.most)
		case !identity.Printable([]byte(text.text)):
			return fmt.Errorf("%s has characters that cannot be printed: %q", text.what, text.text)
		}
	}
	if !m.broadcasts.mayGo(n.Gate) {
		return fmt.Errorf("this host carries orders to %d gates that it does not have, and to no more: give this one on a host that has the gate", maxErrands)
	}
	private := m.peers.cfg.Key
	signed := &signedBroadcast{Broadcast: n, name: m.peers.me.Name, key: private.Public().(ed25519.PublicKey)}
	signed.sign(private)
	m.broadcasts.keep(signed, true)
	return nil
}

// News returns a channel of capacity one that receives a value when [Membership.Broadcasts] has changed. It is never
// closed.
func (m *Membership) News() <-chan struct{} { return m.broadcasts.news }

// Broadcasts returns the newest broadcast of each gate of this member that has had an order.
func (m *Membership) Broadcasts() []Broadcast { return m.broadcasts.all() }
