// Package agenttest has agents in virtual time. They are complete except for sockets, processes and the control socket.
// Tests run whole fleets of them inside testing/synctest, on a network in memory (agent/transport/memnet).
package agenttest

import (
	"context"
	"io"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/agent/transport"
)

// Agent is an agent in virtual time. Its host is never suspended.
type Agent struct {
	*agent.Agent
	// source is set again when the control socket is served again.
	source atomic.Pointer[control.Source]
	pauses chan time.Duration
}

// New makes an agent: listen replaces the sockets, and run replaces the operation and its guard.
func New(cfg agent.Config, listen func(netip.AddrPort) (*transport.Endpoint, error), run func() gate.HookRun) (*Agent,
	error,
) {
	a := &Agent{pauses: make(chan time.Duration)}
	var err error
	a.Agent, err = agent.NewWith(cfg, agent.Deps{
		Listen:    listen,
		StartHook: func(hook.Spec) (gate.HookRun, error) { return run(), nil },
		Serve: func(_, _ string, source control.Source, _ zerolog.Logger) (io.Closer, error) {
			a.source.Store(&source)
			return io.NopCloser(nil), nil
		},
		Save: (*statedir.Dir).Save,
		Host: clock.Host{
			Wall: a.wall, Asleep: func() time.Duration { return 0 },
			Boot: func() clock.Boot { return clock.Boot{ID: "virtual", Up: time.Since(time.Unix(0, 0)), Synced: true} },
		},
		Stops: func() bool { return false },
	})
	return a, err
}

// wall is the wall clock. The agent's loop reads it at every event, and waits there during a pause.
func (a *Agent) wall() time.Time {
	select {
	case d := <-a.pauses:
		time.Sleep(d)
	default:
	}
	return time.Now()
}

// Pause pauses the gates for d, like SIGSTOP, but not the membership: messages wait, and hooks continue. It returns
// when the pause has begun, or ctx is done.
func (a *Agent) Pause(ctx context.Context, d time.Duration) {
	go func() { _, _ = a.status(ctx) }() // an event for the loop
	select {
	case a.pauses <- d:
	case <-ctx.Done():
	}
}

// status asks the agent for its status, as a client of its control socket does.
func (a *Agent) status(ctx context.Context) (control.Status, error) {
	return (*a.source.Load()).Status(ctx)
}
