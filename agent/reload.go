package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
)

// Reread reads the configuration again. An error says what is wrong with it, and where.
type Reread func() (Rereading, error)

// Rereading is a configuration that was read again.
type Rereading struct {
	Config Config
	// About says what has changed in it.
	About control.Reloaded
	// Accept is told when it has come into force.
	Accept func()
}

// keepReloading reloads whenever somebody asks for it, and adds gates that had to wait, until ctx is done.
func (a *Agent) keepReloading(ctx context.Context) {
	for {
		select {
		case <-a.cfg.Reloads:
			_, _ = a.reload(ctx) // The log says what came of it.
		case <-a.vacant:
			a.reloading.Lock()
			_ = a.addAwaited(ctx) // The log says what came of it.
			a.reloading.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// reload reads the configuration again, and puts into force what can change while an agent runs. It loses neither token
// nor grant nor callers of a gate that stays. If anything is wrong with the configuration, nothing changes.
func (a *Agent) reload(ctx context.Context) (control.Reloaded, error) {
	if a.cfg.Reread == nil {
		return control.Reloaded{}, errors.New("this agent has no configuration that could be read again")
	}
	a.reloading.Lock()
	defer a.reloading.Unlock()
	next, err := a.cfg.Reread()
	if err == nil {
		err = a.check(&next.Config)
	}
	if err != nil {
		a.log.Error().Err(err).Msg("the configuration was not reloaded; all stays as it was")
		return control.Reloaded{Problem: err.Error()}, nil
	}
	about := next.About
	if err := do(ctx, a, func() error { return a.apply(&next.Config, &about) }); err != nil {
		return control.Reloaded{}, err
	}
	next.Accept()
	if err := errors.Join(a.addAwaited(ctx), a.members.SetJoin(next.Config.Join)); err != nil {
		return control.Reloaded{}, err
	}
	level := zerolog.InfoLevel
	if len(about.Restart) > 0 {
		level = zerolog.WarnLevel
	}
	a.log.WithLevel(level).Str("changed", strings.Join(about.Changed, "; ")).
		Str("needs_restart", strings.Join(about.Restart, "; ")).
		Str("waits", strings.Join(about.Waits, "; ")).Msg("reloaded the configuration")
	return about, nil
}

// check finds what a configuration asks for that this agent cannot do.
func (a *Agent) check(next *Config) error {
	if err := checkGates(a.cfg.Name, next.Gates); err != nil {
		return err
	}
	for i := range next.Gates {
		c := &next.Gates[i]
		if slices.ContainsFunc(*a.listed.Load(), func(g *gate.Gate) bool { return g.Name() == c.Name }) {
			continue
		}
		if _, err := a.pastOf(c); err != nil {
			return err
		}
	}
	return nil
}

// apply puts another configuration into force, but for the gates that are new, which are awaited from now on. It adds
// to what is said about it.
func (a *Agent) apply(next *Config, about *control.Reloaded) error {
	if a.leaving {
		return errStopping
	}
	a.cfg.Drain, a.cfg.StopTimeout, a.cfg.Join = next.Drain, next.StopTimeout, next.Join
	a.awaited = slices.Clone(next.Gates)
	for _, g := range a.gates {
		i := slices.IndexFunc(a.awaited, func(c gate.Config) bool { return c.Name == g.Name() })
		switch {
		case i < 0:
			g.Remove()
			if g.Running() {
				about.Waits = append(about.Waits, "gate "+g.Name()+": it goes when its run has ended")
			}
			continue
		case g.Removed():
			about.Waits = append(about.Waits,
				"gate "+g.Name()+": it was being removed, and begins anew when that is done")
			continue
		}
		c := a.awaited[i]
		a.awaited = slices.Delete(a.awaited, i, i+1)
		if c.OnDemand() != g.OnDemand() {
			continue // The configuration's own comparison names it.
		}
		if !g.Apply(&c) {
			about.Restart = append(about.Restart, "the constants of gate "+g.Name())
		}
	}
	beside.Signal(a.vacant) // in case that whoever asks for the reload does not wait for the gates to be added
	return nil
}

func (s source) Reload(ctx context.Context) (control.Reloaded, error) { return s.a.reload(ctx) }
