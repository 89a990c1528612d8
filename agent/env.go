package agent

import (
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/wire"
)

// env is what a gate is given: all that it needs and does not own. All gates of an agent have the same.
type env struct {
	self wire.MemberID
	// name is this member's; started is when its agent was.
	name    string
	started time.Time
	log     zerolog.Logger
	clock   *clock.Clock
	// ended carries completions (runs, saves, ready checks) to the loop, which calls them one by one. A gate has at most five under way.
	ended chan<- func()
	disk  disk
	fleet others
	// start starts a hook, or a question. hostStops reports whether the host of this process is being shut down, which may take a second to find out.
	start     func(hook.Spec) (HookRun, error)
	hostStops func() bool
	// alone says whether this member waits for others where it sees none: see [policy.Seat].
	alone func() (waits, rejoins bool)
	// moved warns that the state directory is not where it was made: then no strict gate takes part. It is empty if all is well.
	moved string
	// runs and commands measure what runs under gates: hooks, and commands of callers.
	runs, commands meter
	observe        func(Observation)
}

// disk is where a gate's state is kept. Its methods are called beside the loop.
type disk interface {
	Save(gate string, r statedir.Record) error
	SaveRoster(gate string, r statedir.Roster) error
}

// meter measures what runs under a gate: how long it takes, and how long it had to wait.
type meter interface {
	Waited(gate string, d time.Duration)
	Ended(gate string, d time.Duration)
}

// peer is a live member, as a gate sees it.
type peer struct {
	ID   wire.MemberID
	Name string
	Addr netip.AddrPort
	// InGate says that it takes part in the gate that asks, Roster is the hash of the roster that it has declared there; 0 if none.
	InGate bool
	Roster uint64
}

// others are the other members, as far as a gate needs them. Its methods are called on the loop, and do not block.
type others interface {
	// Lookup finds a live member, for a gate.
	Lookup(gate wire.GateID, id wire.MemberID) (peer, bool)
	// Members are all live members, for a gate, this one among them.
	Members(gate wire.GateID) []peer
	// Peers are the members of a gate, sorted, this one among them; tokenKnown, if another one has met a token.
	Peers(gate wire.GateID) (ids []wire.MemberID, tokenKnown bool)
	// Send signs, seals and sends a message to a member, once. Seal makes the same datagram for somebody else to send.
	Send(m *wire.Message, to netip.AddrPort) error
	Seal(m *wire.Message) []byte
	// Announce says that this member has met a token of a gate, DeclareRoster with which roster it takes part, Notify which order is the newest.
	Announce(gate wire.GateID)
	DeclareRoster(gate wire.GateID, hash uint64)
	Notify(gate wire.GateID, o wire.Order, who, reason string) error
	// Withdraw says in which gates this member takes part, after one of them is closed.
	Withdraw() error
}
