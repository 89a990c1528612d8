package policy

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/wire"
)

// Descriptor describes a protocol to shells and to the simulator, apart from its machines.
type Descriptor struct {
	// ID is its number on the wire; see [ProtocolName].
	ID uint8
	// Name is the name that operators use. Version rises when a member of the previous version would misread what a
	// member of the new one saves or sends.
	Name    string
	Version uint8
	// Kinds are the kinds of message that the protocol's machines send, and Notes all notes that they tell; both
	// include those of the machines' parts.
	Kinds Kinds
	Notes Notes
	// WellFormed reports whether a message is of one of the protocol's kinds and has the fields of that kind. The shell
	// asks it once, before Expects: no other message reaches a machine.
	WellFormed func(*wire.Message) bool
	// Doubt drops the parts of a state read from disk that cannot be true, given a clock that reads wall, and returns
	// the reason; it returns an empty string if it drops nothing. synced is true if a time server has set the clock in
	// this boot. A protocol with nothing to doubt has a nil Doubt.
	Doubt func(wall int64, synced bool, s *State) (why string)
}

// ProtocolName returns the name of the protocol with that number, if the number is assigned.
func ProtocolName(id uint8) string {
	switch id {
	case 1:
		return "wander"
	case 2:
		return "ring"
	case 3:
		return "tree"
	case 4:
		return "call"
	}
	return fmt.Sprintf("protocol %d", id)
}

// Stamp writes the protocol into a message. The shell stamps whatever a machine sends or pre-signs.
func (d *Descriptor) Stamp(m *wire.Message) { m.Protocol, m.Version = d.ID, d.Version }

// Speaks reports whether a message is from a member of this protocol, of the same version. The shell drops any other
// message, because it has another layout.
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

	// OrphanGrace is how long a run may take to end after its process has died, before its guard kills it.
	OrphanGrace() time.Duration
}

// Env is what a machine is given.
type Env struct {
	Gate wire.GateID
	Self wire.MemberID
	// WaitsAlone is true if a member that has never seen another one waits, instead of being a fleet of one. Rejoins is
	// true if the member was in a fleet in an earlier life: then it is not alone merely because it has just started.
	WaitsAlone, Rejoins bool
	// OnDemand is true if the gate has no operation of its own and runs only what a caller waits for: see Wanted.
	OnDemand bool
	// Roster lists the members that the gate is configured to have, Self among them. It is nil if the gate accepts any
	// member. No name and no identity occurs twice.
	Roster  []Voter
	Entropy Entropy
	// Marks are told of the rare branches that the machine takes; nil if nobody listens.
	Marks *marks.Marker
}

// Voter is a member of a roster: its name, and the identity that has this name.
type Voter struct {
	Name string        `json:"name"`
	ID   wire.MemberID `json:"member"`
}
