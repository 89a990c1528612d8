package policy

import (
	"time"

	"github.com/wanderd/wanderd/wire"
)

// EventKind is what happened.
type EventKind uint8

const (
	// Started is the first event of every machine: State is what an earlier life saved, or zero.
	Started EventKind = iota + 1
	// Received brings an authenticated message addressed to this member in Msg.
	Received
	// PeersChanged brings the live members of the gate in Peers and TokenKnown.
	PeersChanged
	// Saved: everything that was to be saved so far is durable, or could not be saved if Failed is set.
	Saved
	// Finished: the protected operation has ended, in whatever way, or was not started.
	Finished
	// Soaks: the operation has succeeded, and this host soaks. The run goes on, and Finished follows. Only protocols
	// with guardians act on it.
	Soaks
	// Wanted: a caller at this member waits for a run: "a demand is one bit to the machine; local callers queue at the
	// agent". The next Run ends the demand. If a caller still waits after that, or because that run was Denied, the
	// shell sends Wanted again, as early as during that run, and again in each new life. A member that is wanted is
	// due, even within min_interval of an operation of its own.
	Wanted
	// Unwanted withdraws the demand: no caller waits any longer. It does not affect a run in progress.
	Unwanted
	// Suspended: the host was asleep, and the others may have gone on without it.
	Suspended
	// Directed brings an operator's directive that pauses the gate or ends a pause; if Here is set, it is for this
	// member alone. Package directive keeps the newest directive, and tells the machine by Paused whether it may run
	// from now on. It does not affect a run in progress. With a Directive, an operator has resumed the gate: that also
	// ends what a success elsewhere has begun.
	Directed
	// Renew: an operator has asked all other members, and none has the token of Slot. A [Renewable] machine makes a new
	// one, unless it knows of one.
	Renew
	// Leave: this member is about to stop. It stops a run, passes the token on and takes no new one.
	Leave
	// Woke: the time that NextWake named has come.
	Woke
)

// String returns the kind's name.
func (k EventKind) String() string {
	return Name([]string{
		Started: "Started", Received: "Received", PeersChanged: "PeersChanged", Saved: "Saved", Finished: "Finished",
		Soaks: "Soaks", Wanted: "Wanted", Unwanted: "Unwanted", Suspended: "Suspended", Directed: "Directed",
		Renew: "Renew", Leave: "Leave", Woke: "Woke",
	}, k)
}

// Event is one thing that happened; Kind determines which fields are set.
type Event struct {
	Kind EventKind
	// TokenKnown comes with PeersChanged: some other live member reports that it has met a token of this gate.
	TokenKnown bool
	// Company comes with PeersChanged: other hosts of the fleet are here, which do not have this gate. So a member that
	// sees no other one is not cut off from it.
	Company bool
	// Failed comes with Saved.
	Failed bool
	// Denied comes with Finished: the operation did not run, because it was too late to start it.
	Denied bool
	// Void comes with Finished: the duration of this run means nothing for the operation, because the run was ended by
	// its timeout or its grant, or never started.
	Void bool
	// Outcome comes with Finished: what the run has achieved.
	Outcome Outcome
	// ByHand comes with Finished to package directive: a grant for a demand has run the gate's own operation, because
	// somebody at this member asked for it; or the host is not healthy after a caller's command.
	ByHand bool
	// Exit comes with Finished of a Failed run: the run's exit status as a shell reports it, 1 to 255; zero if this
	// member stopped the run.
	Exit uint8
	// Here and Directive come with Directed to package directive; Paused comes with Directed to the machine, and
	// Directive, too, if the gate is resumed.
	Here, Paused bool
	Directive    wire.Directive
	// Slot comes with Renew.
	Slot uint8
	// Soak comes with Soaks: for how long this host soaks. SoakGoesOn comes with Finished: a stop has cut that short,
	// and nobody is to start all the same before it is over.
	Soak       time.Duration
	SoakGoesOn bool
	// Slept comes with Suspended: how much of the time that has passed the host was asleep.
	Slept time.Duration
	// Peers comes with PeersChanged: the live members of the gate in the order of their identities, this one among
	// them. The slice is shared and must not be changed.
	Peers []wire.MemberID
	// State comes with Started.
	State State
	// Msg comes with Received.
	Msg wire.Message
}
