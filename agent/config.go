package agent

import (
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// Config is everything an agent is told. The command line, the environment and the configuration file end up here.
type Config struct {
	// Name is what people call this member; it need not be unique, but should be.
	Name string
	// Bind is the address and port of everything: tokens and gossip, UDP and TCP. Port 0 asks for a free one.
	Bind netip.AddrPort
	// Advertise is what other members are told; the zero value means Bind, or a private address of the host where Bind is
	// unspecified.
	Advertise netip.AddrPort
	// Join lists members to find the fleet by, each "host" or "host:port". They are asked again for as long as the agent runs.
	Join []string
	// Alone says what a member does that sees nobody else when it starts.
	Alone Alone
	// StateDir holds the node key and the state of the gates; Socket is the path of the control socket.
	StateDir, Socket string
	// Secret seals datagrams and gossip; nil leaves them in the clear, which only Insecure allows beyond loopback.
	Secret   *wire.Secret
	Insecure bool
	// Gates are the gates this member takes part in: at least one, names all different.
	Gates []GateConfig
	// StopTimeout bounds how long a graceful stop may take.
	StopTimeout time.Duration
	// Version is what status reports.
	Version string
	Log     zerolog.Logger
	// Observe, if not nil, is told of everything worth telling, on the loop goroutine: it must not block or call back.
	Observe func(Observation)
}

// Alone says what a member does that sees nobody else when it starts.
type Alone uint8

const (
	// AloneAuto makes it wait if it has somebody to join or was in a fleet before, and otherwise a fleet of one.
	AloneAuto Alone = iota
	// AloneRun makes it a fleet of one at once.
	AloneRun
	// AloneWait makes it wait for another member: if it was in a fleet before, no longer than for a token that is lost.
	AloneWait
)

// GateConfig is one gate. The constants are the paper's; their names are those of DESIGN's table.
type GateConfig struct {
	Name string
	// Hook is the protected operation: a program and its arguments.
	Hook []string
	// HookTimeout is how long it may take before it is told to stop.
	HookTimeout time.Duration
	// Skip is Δskip, Op is Δop, MinInterval is Δmin. Zero for Op asks for what the members measure.
	Skip, Op, MinInterval time.Duration
	// Walk says where the token goes next.
	Walk wander.Walk
	// Slots is how many tokens the gate has, and so how many members may run at once, 1 to wire.MaxSlots; zero stands for one.
	Slots int
	// Backups is how many guardians a token has, 0 to wire.MaxBackups; 0 is the plain paper.
	Backups int
	// OnLost says what becomes of a run whose token has another holder meanwhile.
	OnLost wander.OnLost
	// MaxInterval is Δmax; zero asks for the default rule: 3 × MinInterval, and never below 3 × members × Op. With guardians it is
	// never below two laps as they are, in either case.
	MaxInterval time.Duration
}

func (c *GateConfig) slots() int { return max(c.Slots, 1) }
