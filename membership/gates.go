package membership

import (
	"maps"
	"slices"

	"github.com/wanderd/wanderd/wire"
)

// CheckGates reports whether one member can have all of these gates. The error says what is wrong with the gates, and
// what to do.
func CheckGates(gates []wire.GateID) error {
	_, err := newMetadata(nil, gates)
	return err
}

// SetGates replaces the gates of this member. It still announces what it has announced of the gates that stay. It
// returns a view of the new gates; a view of the former gates may still come later. On an error nothing changes. It
// does not block.
func (m *Membership) SetGates(gates []wire.GateID) (*View, error) {
	next, err := newMetadata(m.peers.me.Key, gates)
	if err != nil {
		return nil, err
	}
	gates = slices.Clone(gates)
	m.announce(func(meta *metadata) bool {
		next.keep(meta)
		*meta, m.peers.gates = next, gates
		return true
	})
	m.broadcasts.setGates(gates)
	m.joiner.unsettle() // a full sync has the orders to a gate that is new here
	return m.peers.look(m.peers.view.Load()), nil
}

// keep takes over what the previous announcement says of the gates that stay.
func (m *metadata) keep(before *metadata) {
	m.leaving, m.counter = before.leaving, before.counter
	for i, mark := range m.gates {
		for _, was := range before.gates {
			if was.tag == mark.tag {
				m.gates[i] = was
			}
		}
	}
}

// setGates forgets the broadcasts of gates that this member does not have any more.
func (k *broadcasts) setGates(gates []wire.GateID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	errands := k.errands()
	k.gates = gates
	maps.DeleteFunc(k.newest, func(g wire.GateID, _ *signedBroadcast) bool {
		return !slices.Contains(gates, g) && !slices.Contains(errands, g)
	})
}
