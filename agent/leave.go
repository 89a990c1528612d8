package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/wanderd/wanderd/agent/gate"
)

// drainStep is how long the service manager is told to wait while runs end by themselves; the agent tells it again and
// again. The loop sleeps less.
const drainStep = 3 * idleWake

// leave begins a graceful stop: what runs is ended, and every gate is left.
func (a *Agent) leave() {
	a.leaving = true
	a.stopping.Store(true)
	a.notifier.stopping(a.cfg.StopTimeout + goodbye)
	a.log.Info().Dur("within", a.cfg.StopTimeout).Msg("stopping: ending hooks and passing tokens on")
	for _, g := range a.gates {
		g.Leave()
	}
}

// drain begins a stop that ends no run: nothing new begins, and a gate is left when its run has ended.
func (a *Agent) drain() {
	a.leaving = true
	a.log.Info().Msg("draining: waiting for what runs, and passing tokens on")
	for _, g := range a.gates {
		g.Drain()
	}
	if a.draining() {
		a.notifier.stopping(drainStep + a.cfg.StopTimeout + goodbye)
	}
}

// draining reports whether a gate waits for the end of its run before it is left.
func (a *Agent) draining() bool {
	return a.leaving && slices.ContainsFunc(a.gates, func(g *gate.Gate) bool { return !g.Left() })
}

var errStopping = errors.New("the agent is stopping already")

// Drain serves the control socket: the agent stops when everything that runs has ended.
func (s source) Drain(ctx context.Context) error {
	return do(ctx, s.a, func() error {
		if s.a.leaving {
			return errStopping
		}
		s.a.drain()
		return nil
	})
}
