package policy

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Descriptor is what shells and simulator know of a protocol besides its machines.
type Descriptor struct {
	// ID is its number on the wire; see [ProtocolName].
	ID uint8
	// Name is the one that operators use. Version rises when a member of before would misread what one of now saves or
	// sends.
	Name    string
	Version uint8
	// Kinds are the kinds of message that its machines send, Notes all that they tell, their parts' among them.
	Kinds Kinds
	Notes Notes
	// WellFormed reports whether a message is of one of its kinds, and has what those of that kind have. The shell asks
	// it once, before Expects: no other message comes to a machine.
	WellFormed func(*wire.Message) bool
	// Doubt drops from a state that was read from disk what cannot be by a clock that reads wall, and says why; nothing
	// if all can be. synced says that the clock was set by a time server in this boot. Nil stands for a protocol that
	// has nothing to doubt.
	Doubt func(wall int64, synced bool, s *State) (why string)
}

// ProtocolName returns the name of the protocol with that number, as far as one is assigned.
func ProtocolName(id uint8) string {
	switch id {
	case 1:
		return "wander"
	case 2:
		return "ring"
	case 3:
		return "tree"
	}
	return fmt.Sprintf("protocol %d", id)
}

// Stamp writes the protocol into a message. The shell stamps whatever a machine sends or pre-signs.
func (d *Descriptor) Stamp(m *wire.Message) { m.Protocol, m.Version = d.ID, d.Version }

// Speaks reports whether a message is from a member of this protocol, of the same version. The shell drops any other:
// it has another layout.
func (d *Descriptor) Speaks(m *wire.Message) bool {
	return m.Protocol == d.ID && m.Version == d.Version
}

// Protocol is a descriptor with the settings of one gate: all that a shell needs to be a member of it.
type Protocol interface {
	Descriptor() Descriptor

	// Machine returns the machine of a member, which waits for Started.
	Machine(Env) Machine

	// SaveWithin is the longest save after which a run may start.
	SaveWithin() time.Duration

	// OrphanGrace is how long a run may take to end, when its process has died, before its guard kills it.
	OrphanGrace() time.Duration
}

// Env is what a machine is given.
type Env struct {
	Gate wire.GateID
	Self wire.MemberID
	// WaitsAlone says that a member that has never seen another one waits, instead of being a fleet of one. Rejoins
	// says that it was in a fleet in an earlier life: it is not alone because it has just started.
	WaitsAlone, Rejoins bool
	// OnDemand says that the gate has nothing to run but what somebody waits for: see Wanted.
	OnDemand bool
	// Roster are the members that the gate is configured to have, Self among them; nil, if it takes whoever comes. No
	// name and no identity is in it twice.
	Roster  []Voter
	Entropy Entropy
}

// Voter is a member of a roster: its name, and who answers to that.
type Voter struct {
	Name string        `json:"name"`
	ID   wire.MemberID `json:"member"`
}
