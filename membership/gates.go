package membership

import (
	"slices"

	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

// CheckGates reports whether one member can have all of these gates. The error says what is wrong with the gates, and
// what to do.
func CheckGates(gates []wire.GateID) error {
	_, err := peers.NewSelf("", nil, gates)
	return err
}

// SetGates replaces the gates of this member. It still announces what it has announced of the gates that stay. It
// returns a view of the new gates; a view of the former gates may still come later. On an error nothing changes. It
// does not block.
func (m *Membership) SetGates(gates []wire.GateID) (*View, error) {
	gates = slices.Clone(gates)
	if err := m.peers.SetGates(gates); err != nil {
		return nil, err
	}
	timing.Signal(m.changed)
	m.broadcasts.SetGates(gates)
	m.joiner.Unsettle() // a full sync has the orders to a gate that is new here
	return m.peers.Look(m.peers.Current()), nil
}
