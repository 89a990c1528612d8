package gate

import (
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/agent/together"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/wire"
)

// Env is all that a gate needs and does not own. All gates of an agent have the same.
type Env struct {
	Self wire.MemberID
	// Name is the name of this member, Socket its control socket; Started is when its agent started.
	Name    string
	Socket  string
	Started time.Time
	Log     zerolog.Logger
	Clock   *clock.Clock
	// Ended carries completions (runs, saves, ready checks) to the loop, which calls them one by one. A gate has at
	// most six under way.
	Ended chan<- func()
	Disk  Disk
	Fleet Fleet
	// Start starts a hook or a ready check. HostStops reports whether the host of this process is being shut down; it
	// may take a second to find out.
	Start     func(hook.Spec) (HookRun, error)
	HostStops func() bool
	// GoesDown reports whether this host is being shut down, whoever has begun that; ComesUp, whether it is still
	// starting. Both are called beside the loop, and may take a second.
	GoesDown, ComesUp func() bool
	// Alone reports whether this member waits for others when it sees none: see [policy.Env].
	Alone func() (waits, rejoins bool)
	// Moved is the warning that the state directory is not where it was made; empty if it is. With that warning, no
	// strict gate takes part.
	Moved string
	// Runs measures the hooks under gates, Commands the commands of callers.
	Runs, Commands Meter
	Observe        func(Observation)
	// Others returns what a run of a gate holds besides, for itself and for the gates that its caller names; nil if
	// that is nothing. stop stops the run. Held returns why a gate that was taken for a run of another one does not let
	// it start: it was lost, or forbids that. Soaks tells such a gate that the host soaks. All are called on the loop.
	Others func(g *Gate, named []string, stop func()) (*together.Holds, error)
	Held   func(gate, other string) error
	Soaks  func(gate, other string, takes time.Duration)
	// Emit tells people of an event; nil if nobody wants to know. It may be called from any goroutine, and does not
	// block.
	Emit func(events.Event)
}

// Disk is where a gate's state is kept. Its methods are called beside the loop.
type Disk interface {
	Save(gate string, r statedir.Record) error
	SaveRoster(gate string, r statedir.Roster) error
}

// Meter measures what runs under a gate: how long it runs, and how long it had to wait.
type Meter interface {
	Waited(gate string, d time.Duration)
	Ended(gate string, d time.Duration)
}

// Peer is a live member, as a gate sees it.
type Peer struct {
	ID   wire.MemberID
	Name string
	Addr netip.AddrPort
	// InGate reports whether the peer takes part in the gate that asks. Declared is what the peer has declared there:
	// the hash of its roster, or the protocol of a gate without one; 0 if nothing.
	InGate   bool
	Declared uint64
	// Standing is where the peer stands in that gate. AwaySince is since when it is away, and Left is true if it has
	// left: only [Fleet.Away] fills them in.
	Standing  stages.Standing
	AwaySince time.Time
	Left      bool
}

// Fleet are the other members, as far as a gate needs them. Its methods are called on the loop, and do not block.
type Fleet interface {
	// Lookup finds a live member, for a gate.
	Lookup(gate wire.GateID, id wire.MemberID) (Peer, bool)
	// Members returns all live members, this one included, for a gate.
	Members(gate wire.GateID) []Peer
	// Away returns the members of a gate that have failed or left, as far as this member knows.
	Away(gate wire.GateID) []Peer
	// IsForgotten reports whether a member is gone for good, as somebody has said.
	IsForgotten(id wire.MemberID) bool
	// Peers returns the members of a gate, sorted, this one included. tokenKnown is true if another one has met a
	// token. Members that have declared something else than declared are among the others instead, unless that is 0.
	Peers(gate wire.GateID, declared uint64) (ids []wire.MemberID, tokenKnown bool, others []Peer)
	// HasCompany reports whether this member has seen others for a while, whatever gates these have.
	HasCompany() bool
	// Send signs, seals and sends a message to a member, once. Seal makes the same datagram for somebody else to send.
	Send(m *wire.Message, to netip.AddrPort) error
	Seal(m *wire.Message) []byte
	// Announce tells the others that this member has met a token of a gate, Declare with which roster or protocol it
	// takes part, Stand where it stands there, Notify which directive is the newest.
	Announce(gate wire.GateID)
	Declare(gate wire.GateID, what uint64)
	Stand(gate wire.GateID, where stages.Standing)
	Notify(gate wire.GateID, o wire.Directive, who, reason string) error
	// Withdraw tells the others in which gates this member takes part, after one of them is closed.
	Withdraw() error
}

// entropy is the machines' cryptographic random source.
type entropy struct{}

// Uint64 returns 64 random bits.
func (entropy) Uint64() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // It never fails.
	return binary.LittleEndian.Uint64(b[:])
}
