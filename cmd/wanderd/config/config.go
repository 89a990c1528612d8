package config

import (
	"net/netip"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// Config is a configuration that an agent can run with.
type Config struct {
	// Agent is complete but for its version, its log and its observer.
	Agent agent.Config
	// LogFormat and LogLevel are among the choices of their settings.
	LogFormat, LogLevel string
	// Warnings are sentences about what is probably not meant, and does no harm.
	Warnings []string
}

// config puts together what has been checked.
func (l *Layers) config(secret *wire.Secret, warnings []string) *Config {
	top := &l.top
	c := agent.Config{
		Name: top[Name].Text, Bind: netip.MustParseAddrPort(top[Bind].Text), Join: top[Join].List,
		StateDir: top[StateDir].Text, Socket: top[Socket].Text,
		Secret: secret, Insecure: top[Insecure].Bool, StopTimeout: top[StopTimeout].Duration,
	}
	switch top[Alone].Text {
	case AloneRun:
		c.Alone = agent.AloneRun
	case AloneWait:
		c.Alone = agent.AloneWait
	}
	if top[Advertise].Set {
		c.Advertise = netip.MustParseAddrPort(top[Advertise].Text)
	}
	for _, g := range l.gates {
		v := &g.values
		walk, _ := wander.ParseWalk(v[Walk].Text) // it is one of the choices
		onLost, _ := wander.ParseOnLost(v[OnLost].Text)
		c.Gates = append(c.Gates, agent.GateConfig{
			Name: v[GateName].Text, Hook: v[Hook].List, HookTimeout: v[HookTimeout].Duration,
			Walk: walk, Slots: v[Slots].Number, Backups: v[Backups].Number, OnLost: onLost,
			Skip: v[Skip].Duration, Op: v[Op].Duration, MinInterval: v[MinInterval].Duration, MaxInterval: v[MaxInterval].Duration,
		})
	}
	return &Config{Agent: c, LogFormat: top[LogFormat].Text, LogLevel: top[LogLevel].Text, Warnings: warnings}
}
