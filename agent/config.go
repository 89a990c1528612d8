package agent

import (
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Config is the configuration of an agent, from the command line, the environment and the configuration file.
type Config struct {
	// Name is this member's name for people. It should be unique.
	Name string
	// Bind is the address and port for tokens and gossip, UDP and TCP. Port 0 chooses a free port.
	Bind netip.AddrPort
	// Advertise is the address for other members; the zero value means Bind, or an address of the host if Bind is unspecified.
	Advertise netip.AddrPort
	// Join lists addresses of members, each "host" or "host:port". They are tried for as long as the agent runs.
	Join []string
	// Alone says whether a member that sees no other at its start waits.
	Alone Alone
	// StateDir holds the node key and the state of the gates; Socket is the path of the control socket.
	StateDir, Socket string
	// SocketGroup is the group whose members may use the control socket, besides this process's user and root; empty is none.
	SocketGroup string
	// Metrics is the TCP address, "host:port", at which metrics are served besides on the control socket; empty is none.
	Metrics string
	// Secret seals datagrams and gossip. Nil means no encryption; only Insecure allows that beyond loopback.
	Secret   *wire.Secret
	Insecure bool
	// SecretFile is where Secret was read. It is read again when it has changed; it may have a second secret, with which messages are opened, too.
	// Empty is a secret that never changes.
	SecretFile string
	// KnownHosts is the file that says who may take part; empty is everybody who has the secret.
	KnownHosts string
	// Gates are the gates of this member: at least one, with unique names.
	Gates []GateConfig
	// Drain makes a stop wait for what runs, instead of ending it.
	Drain bool
	// StopTimeout bounds a graceful stop.
	StopTimeout time.Duration
	// Reread reads the configuration again; nil, if there is none. Reloads asks for that.
	Reread  Reread
	Reloads <-chan struct{}
	// Version is reported in the status.
	Version string
	Log     zerolog.Logger
	// Observe, if not nil, gets each Observation on the loop goroutine. It must not block or call back.
	Observe func(Observation)
}

// Alone says whether a member that sees no other at its start waits.
type Alone uint8

const (
	// AloneAuto makes it wait if it has an address to join or was in a fleet before. Otherwise it runs as a fleet of one.
	AloneAuto Alone = iota
	// AloneRun makes it run as a fleet of one at once.
	AloneRun
	// AloneWait makes it wait for another member. If it was in a fleet before, it waits no longer than max_interval.
	AloneWait
)

// GateConfig configures one gate.
type GateConfig struct {
	Name string
	// Hook is the protected operation: a program and its arguments. A gate without one is on demand: it runs the commands of its callers.
	Hook []string
	// HookTimeout is how long a run may take before it is stopped. It must be positive if there is a hook; otherwise zero sets no limit.
	HookTimeout time.Duration
	// Ready asks this host whether the hook is needed: a program and its arguments, which exits with 0 if it is, and with 75 if it is not
	// now; nil, if it always is. ReadyTimeout is how long it may take, and ReadyAgain the time from an answer to the next question; both must
	// be positive then.
	Ready                    []string
	ReadyTimeout, ReadyAgain time.Duration
	// Roster are the names of the members of a strict gate, this member's among them; nil, if the gate takes whoever comes.
	Roster []string
	// KillAfter is the time from SIGTERM to SIGKILL in a gate with a roster. It must be the one with which its protocol counts.
	KillAfter time.Duration
	// WindowHard ends a run when the windows of its protocol close: when the fact "window_closes" says.
	WindowHard bool
	// StopAfter is how many hosts have to fail in a row until the gate is paused: 1 to wire.MaxFailures; zero is never.
	StopAfter int
	// Protocol decides which member may run, with its settings.
	Protocol policy.Protocol
}

// onDemand reports whether the gate runs what its callers ask for, and nothing else.
func (g *GateConfig) onDemand() bool { return len(g.Hook) == 0 }
