package main

import (
	"context"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// agent runs an agent until ctx is done.
func (p *program) agent(ctx context.Context, flags *config.Flags) error {
	checked, err := config.Read(flags, p.environ).Check()
	if err != nil {
		return err
	}
	log, err := NewLogger(checked.LogFormat, checked.LogLevel, p.stderr)
	if err != nil {
		return &config.Invalid{Problems: []string{err.Error()}}
	}
	for _, warning := range checked.Warnings {
		log.Warn().Msg(warning)
	}
	c := checked.Agent
	c.Version, c.Log = versionString(), log
	return p.runAgent(ctx, c)
}

// runAgent is what program.runAgent is outside of tests.
func runAgent(ctx context.Context, c agent.Config) error {
	a, err := agent.New(c)
	if err != nil {
		return err
	}
	return a.Run(ctx)
}
