package agent

import (
	"context"
	"io"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/agent/transport"
)

// NewVirtual is New for an agent in virtual time: listen replaces the sockets, run the operation and its guard. The agent has no control
// socket, and its host is never suspended. Tests run whole fleets with it, on a network in memory (agent/transport/memnet) inside
// testing/synctest.
func NewVirtual(cfg Config, listen func(netip.AddrPort) (*transport.Endpoint, error), run func() gate.HookRun) (*Agent, error) {
	return newAgent(cfg, deps{
		listen:    listen,
		startHook: func(hook.Spec) (gate.HookRun, error) { return run(), nil },
		serve: func(string, string, control.Source, zerolog.Logger) (io.Closer, error) {
			return io.NopCloser(nil), nil
		},
		save: (*statedir.Dir).Save,
		host: clock.Host{
			Wall: time.Now, Asleep: func() time.Duration { return 0 },
			Boot: func() clock.Boot { return clock.Boot{ID: "virtual", Up: time.Since(time.Unix(0, 0)), Synced: true} },
		},
		stops: func() bool { return false },
	})
}

// Pause pauses the gates for d, like SIGSTOP, but not the membership: messages wait, and hooks continue. It returns when the pause has
// begun, or ctx is done.
func (a *Agent) Pause(ctx context.Context, d time.Duration) {
	select {
	case a.queries <- func() { time.Sleep(d) }:
	case <-ctx.Done():
	}
}
