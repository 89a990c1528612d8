package agent

import (
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/wire"
)

// Config is the configuration of an agent, from the command line, the environment and the configuration file.
type Config struct {
	// Name is this member's name for people. It should be unique.
	Name string
	// Bind is the address and port for tokens and gossip, UDP and TCP. Port 0 chooses a free port.
	Bind netip.AddrPort
	// Advertise is the address for other members; the zero value means Bind, or an address of the host if Bind is
	// unspecified.
	Advertise netip.AddrPort
	// Join lists addresses of members, each "host" or "host:port", and sources of addresses, "srv:NAME" or
	// "exec:COMMAND". They are tried for as long as the agent runs.
	Join []string
	// Alone decides whether a member that sees no other member at its start waits for one.
	Alone Alone
	// StateDir holds the node key and the state of the gates; Socket is the path of the control socket.
	StateDir, Socket string
	// SocketGroup is the group whose members may use the control socket, in addition to this process's user and root;
	// empty is none.
	SocketGroup string
	// Metrics is the TCP address, "host:port", at which metrics are served in addition to the control socket; empty is
	// none.
	Metrics string
	// Secret seals datagrams and gossip. Nil means no encryption; only Insecure allows that beyond loopback.
	Secret   *wire.Secret
	Insecure bool
	// SecretFile is the file from which Secret was read. It is read again when it has changed. It may hold a second
	// secret, which opens messages, too. If it is empty, the secret never changes.
	SecretFile string
	// KnownHosts is the file of those who may take part; if it is empty, everybody with the secret may.
	KnownHosts string
	// Gates are the gates of this member: at least one, with unique names.
	Gates []gate.Config
	// Events are the receivers of events.
	Events events.Config
	// Drain makes a stop wait for the end of what runs, instead of ending it.
	Drain bool
	// StopTimeout bounds a graceful stop.
	StopTimeout time.Duration
	// Reread reads the configuration again when Reloads asks for it; nil if there is nothing to read again.
	Reread  Reread
	Reloads <-chan struct{}
	// Version is reported in the status.
	Version string
	Log     zerolog.Logger
	// Observe, if not nil, gets each gate.Observation on the loop goroutine. It must not block or call back.
	Observe func(gate.Observation)
}

// Alone decides whether a member that sees no other member at its start waits for one.
type Alone uint8

const (
	// AloneAuto makes the member wait if it has an address to join or was in a fleet before. Otherwise it runs as a
	// fleet of one.
	AloneAuto Alone = iota
	// AloneRun makes the member run as a fleet of one at once.
	AloneRun
	// AloneWait makes the member wait for another one. If it was in a fleet before, it waits for max_interval at most.
	AloneWait
)
