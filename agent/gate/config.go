package gate

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Config configures one gate.
type Config struct {
	Name string
	// Hook is the protected operation: a program and its arguments. A gate without one is on demand: it runs the
	// commands of its callers.
	Hook []string
	// HookTimeout is how long a run may take before it is stopped. It must be positive if there is a hook; otherwise
	// zero sets no limit.
	HookTimeout time.Duration
	// Ready asks this host whether the hook is needed: a program and its arguments, which exits with 0 if it is, and
	// with 75 if it is not now; nil, if it always is. ReadyTimeout is how long it may take, and ReadyAgain the time
	// from an answer to the next question; both must be positive then.
	Ready                    []string
	ReadyTimeout, ReadyAgain time.Duration
	// Roster are the names of the members of a strict gate, this member's among them; nil, if the gate takes whoever
	// comes.
	Roster []string
	// KillAfter is the time from SIGTERM to SIGKILL in a gate with a roster. It must be the one with which its protocol
	// counts.
	KillAfter time.Duration
	// WindowHard ends a run when the windows of its protocol close: when the fact "window_closes" says.
	WindowHard bool
	// StopAfter is how many hosts have to fail in a row until the gate is paused: 1 to wire.MaxFailures; zero is never.
	StopAfter int
	// Protocol decides which member may run, with its settings.
	Protocol policy.Protocol
}

// OnDemand reports whether the gate runs what its callers ask for, and nothing else.
func (g *Config) OnDemand() bool { return len(g.Hook) == 0 }
