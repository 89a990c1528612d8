package agent

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/membership/peers"
)

// A program may say who is in the fleet: join = ["exec:/usr/local/bin/members"]. It writes a host or host:port on each
// line; what follows a # is a comment. Like a hook it has a guard, and nothing of the agent's own environment.

// sourceWithin is how long such a program may take, and sourceGrace how long from SIGTERM to SIGKILL.
const (
	sourceWithin = 30 * time.Second
	sourceGrace  = time.Second
)

// sourcesOfAddresses returns what asks the sources of addresses.
func (a *Agent) sourcesOfAddresses() peers.Asker {
	services := peers.Services(net.DefaultResolver)
	return func(ctx context.Context, source string) ([]string, error) {
		if command, is := strings.CutPrefix(source, peers.ProgramPrefix); is {
			return askProgram(ctx, a, command)
		}
		return services(ctx, source)
	}
}

// askProgram returns the lines that a program writes.
func askProgram(ctx context.Context, a *Agent, command string) ([]string, error) {
	argv, err := hook.Split(command)
	if err != nil {
		return nil, err
	}
	said := &lines{log: a.log.With().Str("join", peers.ProgramPrefix+command).Logger()}
	run, err := a.deps.StartHook(hook.Spec{
		Argv: argv, Env: hook.Environ(os.Environ()), For: "join", Log: said,
		Limits: hook.Limits{Timeout: sourceWithin, Grace: sourceGrace},
	})
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, run.Stop)()
	if r := <-run.Done(); r.Err != nil {
		return nil, fmt.Errorf("its program has failed: %w", r.Err)
	}
	said.mu.Lock()
	defer said.mu.Unlock()
	return said.hosts, nil
}

// lines are the hosts that a program writes to its standard output. The rest goes to the log.
type lines struct {
	log   zerolog.Logger
	mu    sync.Mutex
	hosts []string
}

// Line implements [hook.Log].
func (l *lines) Line(stream, text string) {
	if stream != "stdout" {
		l.log.Warn().Str("stream", stream).Msg(text)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	host, _, _ := strings.Cut(text, "#")
	if host = strings.TrimSpace(host); host != "" && len(l.hosts) < peers.MaxListed {
		l.hosts = append(l.hosts, host)
	}
}

// Warn implements [hook.Log].
func (l *lines) Warn(text string, facts ...any) { l.log.Warn().Fields(facts).Msg(text) }
