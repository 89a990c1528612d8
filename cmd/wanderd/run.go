package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// agent runs an agent until ctx is done.
func (p *program) agent(ctx context.Context, flags settings.Flags) error {
	layers := config.Read(flags, p.environ)
	if err := layers.Check(); err != nil {
		return err
	}
	log, err := NewLogger(layers.LogFormat, layers.LogLevel, p.stderr)
	if err != nil {
		return &settings.Invalid{Problems: []string{err.Error()}}
	}
	for _, warning := range layers.Warnings {
		log.Warn().Msg(warning)
	}
	c := layers.Agent
	c.Version, c.Log = cli.Version(), log
	c.Reread = p.rereading(flags, layers)
	if p.hangups != nil {
		c.Reloads = p.hangups()
	}
	return p.runAgent(ctx, c)
}

// heapGrowth is by how many percent the heap grows before it is collected. An idle agent changes little of its heap.
// With half of Go's usual 100 percent, the process is a MiB smaller and no slower.
const heapGrowth = 50

// runAgent is the program.runAgent of the real program. An agent works on one processor: its tasks are shorter than the
// time that it takes to wake another thread. This also means that a flood of messages takes one processor of the host
// at most.
func runAgent(ctx context.Context, c agent.Config) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	a, err := agent.New(c)
	if err != nil {
		return err
	}
	return a.Run(ctx)
}
