package agent

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
)

// Reread reads the configuration again, and says what has changed in it. An error says what is wrong with it, and where.
type Reread func() (Config, control.Reloaded, error)

var errNoReload = errors.New("this agent has no configuration that could be read again")

// keepReloading reloads whenever somebody asks for it, until ctx is done.
func (a *Agent) keepReloading(ctx context.Context) {
	for {
		select {
		case <-a.cfg.Reloads:
			_, _ = a.reload(ctx) // The log says what came of it.
		case <-ctx.Done():
			return
		}
	}
}

// reload reads the configuration again, and puts into force what can change while an agent runs. It loses neither token nor grant nor
// callers. If anything is wrong with the configuration, nothing changes.
func (a *Agent) reload(ctx context.Context) (control.Reloaded, error) {
	if a.cfg.Reread == nil {
		return control.Reloaded{}, errNoReload
	}
	a.reloading.Lock()
	defer a.reloading.Unlock()
	next, about, err := a.cfg.Reread()
	if err != nil {
		a.log.Error().Err(err).Msg("the configuration was not reloaded; all stays as it was")
		return control.Reloaded{Problem: err.Error()}, nil
	}
	stays, err := ask(ctx, a, func() []string { return a.apply(&next) })
	if err == nil {
		err = a.members.SetJoin(next.Join)
	}
	if err != nil {
		return control.Reloaded{}, err
	}
	about.Restart = append(about.Restart, stays...)
	level := zerolog.InfoLevel
	if len(about.Restart) > 0 {
		level = zerolog.WarnLevel
	}
	a.log.WithLevel(level).Str("changed", strings.Join(about.Changed, "; ")).Str("needs_restart", strings.Join(about.Restart, "; ")).
		Msg("reloaded the configuration")
	return about, nil
}

// apply puts another configuration into force. It returns the gates whose constants stay as they are until a restart.
func (a *Agent) apply(next *Config) (stays []string) {
	a.cfg.Drain, a.cfg.StopTimeout = next.Drain, next.StopTimeout
	for _, g := range a.gates {
		i := slices.IndexFunc(next.Gates, func(c GateConfig) bool { return c.Name == g.cfg.Name })
		if i < 0 || next.Gates[i].onDemand() != g.cfg.onDemand() {
			continue // The configuration's own comparison names it.
		}
		if c := &next.Gates[i]; !a.applyGate(g, c) {
			stays = append(stays, "the constants of gate "+g.cfg.Name)
		}
	}
	return stays
}

// applyGate changes a gate. A run that has begun goes on as it was.
func (a *Agent) applyGate(g *gate, next *GateConfig) (tuned bool) {
	g.cfg.Hook, g.cfg.HookTimeout, g.cfg.WindowHard = next.Hook, next.HookTimeout, next.WindowHard
	g.cfg.StopAfter = next.StopAfter
	g.machine.StopAfter(next.StopAfter)
	if reflect.DeepEqual(g.cfg.Protocol, next.Protocol) {
		return true
	}
	machine, ok := g.machine.Machine.(policy.Tunable)
	if !ok || !machine.Tune(next.Protocol) {
		return false
	}
	g.cfg.Protocol = next.Protocol
	g.event.Kind = policy.Woke
	a.step(g)
	return true
}

// Reload answers the control socket.
func (s source) Reload(ctx context.Context) (control.Reloaded, error) { return s.a.reload(ctx) }
