package gate

import (
	"time"

	"github.com/wanderd/wanderd/agent/aftercare"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/downcount"
	"github.com/wanderd/wanderd/policy/holds"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/wire"
)

// Config configures one gate.
type Config struct {
	Name string
	// Pattern is the pattern that has brought the gate into being, and ID its identity; empty and zero if the gate is
	// configured by name.
	Pattern string
	ID      wire.GateID
	// Hook is the protected operation: a program and its arguments. A gate without a hook is on demand: it runs the
	// commands of its callers.
	Hook []string
	// HookTimeout is how long a run may take before it is stopped. It must be positive if there is a hook; otherwise
	// zero sets no limit.
	HookTimeout time.Duration
	// Ready is the ready check, a program and its arguments. It exits with 0 if this host needs a run of the hook, and
	// with 75 if it does not now. If Ready is nil, the host always needs it. ReadyTimeout is how long the check may
	// take, ReadyAgain the time from an answer to the next check; both must be positive if there is a check.
	Ready                    []string
	ReadyTimeout, ReadyAgain time.Duration
	// Aftercare is what follows an operation that has succeeded, before its grant goes on.
	Aftercare aftercare.Config
	// Roster are the names of the members of a strict gate, this member included; nil if the gate accepts any member.
	Roster []string
	// KillAfter is the time from SIGTERM to SIGKILL in a gate with a roster. It must be the time with which the gate's
	// protocol counts.
	KillAfter time.Duration
	// Keep is how long a grant outlives the last word of its host; zero if grants end with their agents. It must be the
	// time with which the gate's protocol counts.
	Keep time.Duration
	// FleetLock is the TCP address, "host:port", at which this host's clients of the FleetLock protocol are answered;
	// empty is none. FleetLockGroup is their group; empty means the gate's name. Keep must be positive then.
	FleetLock, FleetLockGroup string
	// MaxDown is how many members may be down, this one included, when a run starts.
	MaxDown downcount.Limit
	// Stages are the stages in which the members run the gate's own operation.
	Stages stages.Config
	// With are the gates that a run of this one holds, too, and Zone is the gate of this host's zone, which it holds as
	// well; empty if zones do not matter. WithWait is how long a run with a token may wait for all of them.
	With     []string
	Zone     string
	WithWait time.Duration
	// ZoneOf is the gate for which this one is that of a zone; empty if it is none. People need not name such a gate.
	ZoneOf string
	// StandStill pauses the gate on all hosts if a host stays away for longer than Keep.
	StandStill bool
	// WindowHard ends a run when the windows of its protocol close, which the fact "window_closes" gives.
	WindowHard bool
	// StopAfter is how many hosts have to fail in a row until the gate is paused: 1 to wire.MaxFailures; zero means
	// never.
	StopAfter int
	// Once is the interval in which one success of the gate's own operation is enough for all members; zero means that
	// each member has its own interval.
	Once time.Duration
	// Protocol decides which member may run, with its settings. AnyTime is the same without windows, for runs that an
	// operator orders; nil if Protocol has none.
	Protocol, AnyTime policy.Protocol
}

// OnDemand reports whether the gate runs only what its callers ask for.
func (g *Config) OnDemand() bool { return len(g.Hook) == 0 }

// ConfigOf returns the configuration of a gate. Only the loop may read it.
func ConfigOf(g *Gate) *Config { return &g.cfg }

// Needs is what a run of the gate holds besides its own token.
func (g *Config) Needs() holds.Gate {
	return holds.Gate{Name: g.Name, With: g.With, Zone: g.Zone}
}
