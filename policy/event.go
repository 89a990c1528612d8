package policy

import (
	"time"

	"github.com/wanderd/wanderd/wire"
)

// EventKind says what happened.
type EventKind uint8

const (
	// Started is the first event of every machine: State is what an earlier life saved, or zero.
	Started EventKind = iota + 1
	// Received brings an authenticated message addressed to this member in Msg.
	Received
	// PeersChanged brings the live members of the gate in Peers and TokenKnown.
	PeersChanged
	// Saved says that all that was asked to be saved so far is durable; if Failed, that it could not be saved.
	Saved
	// Finished says that the protected operation has ended, however it ended, or was not started.
	Finished
	// Wanted says that somebody at this member waits for a run: "a demand is one bit to the machine; local callers
	// queue at the agent". The next Run ends the demand. If anybody waits after that, or because that run was Denied,
	// the shell says it again, as early as during that run; and in each new life. A member that is wanted is due, also
	// within min_interval of an operation of its own.
	Wanted
	// Unwanted takes the demand back: nobody waits any more. A run that goes on is not concerned.
	Unwanted
	// Suspended says that the host was asleep: the others may have gone on without it.
	Suspended
	// Ordered brings an operator's order, for this member alone if Here: the gate is paused, or not any more. Package
	// order keeps the newest one, and tells the machine by Paused whether it may run from now on. A run that goes on is
	// not concerned.
	Ordered
	// Renew says that an operator has asked all others, and that nobody has the token of Slot: a [Renewable] machine
	// makes a new one, unless it knows of one.
	Renew
	// Leave says that this member is about to stop: it stops a run, passes the token on and takes no new one.
	Leave
	// Woke says that the time NextWake named has come.
	Woke
)

// String returns the kind's name.
func (k EventKind) String() string {
	return Name([]string{
		Started: "Started", Received: "Received", PeersChanged: "PeersChanged", Saved: "Saved", Finished: "Finished",
		Wanted: "Wanted", Unwanted: "Unwanted", Suspended: "Suspended", Ordered: "Ordered", Renew: "Renew",
		Leave: "Leave", Woke: "Woke",
	}, k)
}

// Event is one thing that happened; Kind says which fields mean something.
type Event struct {
	Kind EventKind
	// TokenKnown comes with PeersChanged: some other live member says that it has met a token of this gate.
	TokenKnown bool
	// Failed comes with Saved.
	Failed bool
	// Denied comes with Finished: the operation has not run, because it was too late to start it.
	Denied bool
	// Void comes with Finished: how long this run took says nothing of the operation. Its timeout or its grant ended
	// it, or it never started.
	Void bool
	// Outcome comes with Finished: what the run has achieved.
	Outcome Outcome
	// ByHand comes with Finished to package order: a grant for a demand has run the gate's own operation, as somebody
	// here asked for it.
	ByHand bool
	// Exit comes with Finished of a Failed run: its status as a shell has it, 1 to 255; zero if this member has stopped
	// it.
	Exit uint8
	// Here and Order come with Ordered to package order, Paused to the machine.
	Here, Paused bool
	Order        wire.Order
	// Slot comes with Renew.
	Slot uint8
	// Slept comes with Suspended: for how long, of the time that has passed, the host was asleep.
	Slept time.Duration
	// Peers comes with PeersChanged: the live members of the gate in the order of their identities, this one among
	// them. The slice is shared and must not be changed by anybody.
	Peers []wire.MemberID
	// State comes with Started.
	State State
	// Msg comes with Received.
	Msg wire.Message
}
