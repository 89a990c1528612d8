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
	"github.com/wanderd/wanderd/agent/patterns"
)

// Reread reads the configuration again. Its error is what is wrong with the configuration, and where.
type Reread func() (Rereading, error)

// Rereading is a configuration that was read again.
type Rereading struct {
	Config Config
	// About is what has changed in the configuration.
	About control.Reloaded
	// Accept is called when the configuration has come into force.
	Accept func()
}

// keepReloading serves requests for a reload, and adds gates that had to wait, until ctx is done.
func (a *Agent) keepReloading(ctx context.Context) {
	for {
		select {
		case <-a.cfg.Reloads:
			_, _ = a.reload(ctx) // reload logs the outcome.
		case <-a.vacant:
			a.reloading.Lock()
			_ = a.addAwaited(ctx) // addAwaited logs the outcome.
			a.reloading.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// reload reads the configuration again, and puts into force what can change while an agent runs. A gate that stays
// loses neither token nor grant nor callers. If anything is wrong with the configuration, nothing changes.
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

// check returns an error if a configuration asks for something that this agent cannot do.
func (a *Agent) check(next *Config) error {
	if err := checkGates(a.cfg.Name, next.Gates); err != nil {
		return err
	}
	for i := range next.Gates {
		c := &next.Gates[i]
		is := func(g *gate.Gate) bool { return g.Name() == c.Name }
		if patterns.IsPattern(c.Name) || slices.ContainsFunc(*a.listed.Load(), is) {
			continue
		}
		if _, err := a.pastOf(c); err != nil {
			return err
		}
	}
	return nil
}

// apply puts another configuration into force, except for its new gates, which are awaited from now on. It completes
// about.
func (a *Agent) apply(next *Config, about *control.Reloaded) error {
	if a.leaving {
		return errStopping
	}
	a.cfg.Drain, a.cfg.StopTimeout, a.cfg.Join = next.Drain, next.StopTimeout, next.Join
	a.events.Apply(&next.Events)
	a.awaited = slices.DeleteFunc(slices.Clone(next.Gates), func(c gate.Config) bool {
		return patterns.IsPattern(c.Name)
	})
	byName{a}.replace(next.Gates)
	for _, g := range a.gates {
		if gate.ConfigOf(g).Pattern != "" {
			continue
		}
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
				"gate "+g.Name()+": it was being removed, and begins again when that is done")
			continue
		}
		c := a.awaited[i]
		a.awaited = slices.Delete(a.awaited, i, i+1)
		if c.OnDemand() != g.OnDemand() {
			continue // The comparison of the configurations names this gate.
		}
		if !g.Apply(&c) {
			about.Restart = append(about.Restart, "the constants of gate "+g.Name())
		}
	}
	beside.Signal(a.vacant) // because the requester of the reload may not wait until the gates have been added
	return nil
}

func (s source) Reload(ctx context.Context) (control.Reloaded, error) { return s.a.reload(ctx) }
