package membership

import (
	"slices"

	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

// CheckGates returns an error if one member cannot have all of these gates, with the reason and the remedy.
func CheckGates(gates []wire.GateID) error {
	_, err := peers.NewSelf("", nil, gates)
	return err
}

// SetGates replaces the gates of this member. For the gates that stay, it keeps what this member has announced. It
// returns a view of the new gates; a view of the former gates may still come later. On an error nothing changes. It
// does not block.
func (m *Membership) SetGates(gates []wire.GateID) (*View, error) {
	gates = slices.Clone(gates)
	if err := m.peers.SetGates(gates); err != nil {
		return nil, err
	}
	timing.Signal(m.changed)
	m.broadcasts.SetGates(gates)
	m.joiner.Unsettle() // a full sync brings the directives to a gate that is new here
	return m.peers.Look(m.peers.Current()), nil
}
