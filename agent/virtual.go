package agent

import (
	"context"
	"io"
	"net/netip"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/agent/transport"
)

// Virtual replaces the host of an agent in virtual time. Tests run whole fleets with it, on a network in memory
// (agent/transport/memnet) inside testing/synctest.
type Virtual struct {
	// Listen replaces the sockets.
	Listen func(netip.AddrPort) (*transport.Endpoint, error)
	// Hook replaces the operation and its guard. It returns when the operation has ended.
	Hook func(*VirtualRun) hook.Result
}

// NewVirtual is New for an agent in virtual time. The agent has no control socket, and its host is never suspended.
func NewVirtual(cfg Config, v Virtual) (*Agent, error) {
	return newAgent(cfg, deps{
		listen: v.Listen,
		startHook: func(hook.Spec) (hookRun, error) {
			r := &VirtualRun{stop: make(chan struct{}), done: make(chan hook.Result, 1)}
			go func() { r.done <- v.Hook(r) }()
			return r, nil
		},
		serve: func(string, string, control.Source, zerolog.Logger) (io.Closer, error) {
			return io.NopCloser(nil), nil
		},
		save: (*statedir.Dir).Save,
		host: host{
			wall: time.Now, asleep: func() time.Duration { return 0 },
			boot: func() boot { return boot{id: "virtual", up: time.Since(time.Unix(0, 0)), synced: true} },
		},
	})
}

// VirtualRun is a run of a hook without a process.
type VirtualRun struct {
	stop chan struct{}
	once sync.Once
	done chan hook.Result

	mu    sync.Mutex
	words []hook.Word
}

// Stopped returns a channel that is closed when the run must end.
func (r *VirtualRun) Stopped() <-chan struct{} { return r.stop }

// LastWords returns the messages that the guard sends if the agent dies.
func (r *VirtualRun) LastWords() []hook.Word {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.words
}

// Stop implements hookRun.
func (r *VirtualRun) Stop() { r.once.Do(func() { close(r.stop) }) }

// Extend implements hookRun.
func (r *VirtualRun) Extend(time.Duration) {}

// Entrust implements hookRun.
func (r *VirtualRun) Entrust(words []hook.Word) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.words = words
}

// Done implements hookRun.
func (r *VirtualRun) Done() <-chan hook.Result { return r.done }

// Pause pauses the gates for d, like SIGSTOP, but not the membership: messages wait, and hooks continue. It returns when the pause has
// begun, or ctx is done.
func (a *Agent) Pause(ctx context.Context, d time.Duration) {
	select {
	case a.queries <- func() { time.Sleep(d) }:
	case <-ctx.Done():
	}
}
