package membership

import (
	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/broadcast"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/streams"
)

// These are the types of the rooms that an agent uses; each is documented in its room.
type (
	// Broadcast is a directive to a gate.
	Broadcast = broadcast.Broadcast
	// Member is one agent as seen in gossip.
	Member = peers.Member
	// View is the set of live members at one moment.
	View = peers.View
	// State is the state of a member.
	State = peers.State
	// Trust decides which keys may take part in the fleet.
	Trust = identity.Trust
	// Streams accepts and opens connections at the agent's bound address.
	Streams = streams.Streams
	// Outsider is a host that has the secret, but whose key is not trusted here.
	Outsider = admission.Outsider
	// Remembered is the record of another member with which an agent rejoins its fleet after a restart.
	Remembered = peers.Remembered
	// Refusal is an address that could not be joined while no other member was known.
	Refusal = peers.Refusal
	// Resolver looks up the addresses of a host name.
	Resolver = peers.Resolver
)

// The states of a member, see [peers.State].
const (
	StateAlive     = peers.StateAlive
	StateSuspect   = peers.StateSuspect
	StateLeft      = peers.StateLeft
	StateFailed    = peers.StateFailed
	StateUntrusted = peers.StateUntrusted
)
