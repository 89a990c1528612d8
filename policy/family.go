package policy

import (
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Family is what shells and simulator know of a protocol besides its machines.
type Family struct {
	// Name is the one that operators use. Version rises when a member of before would misread what one of now saves.
	Name    string
	Version uint8
	// Notes are all that its machines tell, their parts' among them.
	Notes Notes
	// WellFormed reports whether a message is of one of its kinds, and has what those of that kind have. The shell asks it once, before
	// Expects: no other message comes to a machine.
	WellFormed func(*wire.Message) bool
	// Doubt drops from a state that was read from disk what cannot be by a clock that reads wall, and says why; nothing if all can be. Nil
	// stands for a family that has nothing to doubt.
	Doubt func(wall int64, s *State) (why string)
}

// Protocol is a family with the settings of one gate: all that a shell needs to be a member of it.
type Protocol interface {
	Family() Family

	// Machine returns the machine of a member, which waits for Started.
	Machine(Seat) Machine

	// SaveWithin is the longest save after which a run may start.
	SaveWithin() time.Duration

	// OrphanGrace is how long a run may take to end, when its process has died, before its guard kills it.
	OrphanGrace() time.Duration
}

// Seat is where a machine sits.
type Seat struct {
	Gate wire.GateID
	Self wire.MemberID
	// WaitsAlone says that a member that has never seen another one waits, instead of being a fleet of one. Rejoins says that it was
	// in a fleet in an earlier life: it is not alone because it has just started.
	WaitsAlone, Rejoins bool
	// OnDemand says that the gate has nothing to run but what somebody waits for: see Wanted.
	OnDemand bool
	Entropy  Entropy
}
