package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/wander"
)

// tunable are the settings of a soft gate that can change while an agent runs, and those of any gate.
func tunable() (soft, each []string) {
	return []string{"max_interval", "op", "walk", "backups", "on_lost", "ask_before_run"},
		[]string{"hook", "hook_timeout", "ready", "ready_timeout", "min_interval", "retry_after", "window", "window_hard", "stop_after"}
}

// reloadable are the other settings that can change while an agent runs.
func reloadable() []string { return []string{"join", "stop", "stop_timeout", "trust_hook"} }

// Running is what an agent runs with: the configuration with which it has started, as reloads have changed it.
type Running struct {
	start, inForce *Layers
	// began has each gate as it was when it began.
	began map[string]*gate
}

// NewRunning returns what an agent runs with that starts with a configuration.
func NewRunning(start *Layers) *Running {
	r := &Running{start: start, began: make(map[string]*gate)}
	r.Accept(start)
	return r
}

// Compare compares a configuration that has been checked with what is in force, and with that with which each part has begun. changed is what
// differs from the former and can change while an agent runs, restart what differs from the latter and cannot.
func (r *Running) Compare(l *Layers) (changed, restart []string) {
	shared := constants(&l.shared).Keys()
	for i, s := range l.Table {
		can := slices.Contains(reloadable(), s.Key)
		switch {
		case slices.Contains(shared, s.Key): // It is compared in each gate.
		case can && !reflect.DeepEqual(s.Value.Plain(), r.inForce.Table[i].Value.Plain()):
			changed = append(changed, s.Quote())
		case !can && !reflect.DeepEqual(s.Value.Plain(), r.start.Table[i].Value.Plain()):
			restart = append(restart, s.Quote())
		}
	}
	for _, g := range l.gates {
		before := r.inForce.gateNamed(g.Name)
		if before == nil {
			changed = append(changed, fmt.Sprintf("%s is new (%s)", g.title(), g.origin))
			continue
		}
		c, needs := g.since(before, r.began[g.Name])
		changed, restart = append(changed, c...), append(restart, needs...)
	}
	for _, g := range r.inForce.gates {
		if l.gateNamed(g.Name) == nil {
			changed = append(changed, g.title()+" is removed")
		}
	}
	return changed, restart
}

// Keep gives the gates what they cannot change while they are there.
func (r *Running) Keep(l *Layers) {
	for i := range l.Agent.Gates {
		c := &l.Agent.Gates[i]
		began := r.began[c.Name]
		if began == nil {
			continue
		}
		switch s := began.config().Protocol.(type) {
		case strict.Settings:
			if next, ok := c.Protocol.(strict.Settings); ok {
				s.MinInterval, s.RetryAfter, s.Windows = next.MinInterval, next.RetryAfter, next.Windows
			}
			c.Protocol = s
		case wander.Settings:
			if next, ok := c.Protocol.(wander.Settings); ok {
				next.Skip, next.Slots = s.Skip, s.Slots
				s = next
			}
			c.Protocol = s
		}
	}
}

// Accept says that a configuration has come into force.
func (r *Running) Accept(l *Layers) {
	r.inForce = l
	maps.DeleteFunc(r.began, func(name string, _ *gate) bool { return l.gateNamed(name) == nil })
	for _, g := range l.gates {
		if r.began[g.Name] == nil {
			r.began[g.Name] = g
		}
	}
}

func (l *Layers) gateNamed(name string) *gate {
	if i := slices.IndexFunc(l.gates, func(g *gate) bool { return g.Name == name }); i >= 0 {
		return l.gates[i]
	}
	return nil
}

// since compares a gate with itself. One that gets its first hook, or loses it, needs a restart as a whole.
func (g *gate) since(inForce, began *gate) (changed, restart []string) {
	soft, each := tunable()
	another := (len(g.Hook) == 0) != (len(began.Hook) == 0) || g.policy != began.policy
	for i, s := range g.Table {
		can := !another && (slices.Contains(each, s.Key) || !g.isStrict() && slices.Contains(soft, s.Key))
		switch {
		case can && !reflect.DeepEqual(s.Value.Plain(), inForce.Table[i].Value.Plain()):
			changed = append(changed, g.title()+": "+s.Quote())
		case !can && !reflect.DeepEqual(s.Value.Plain(), began.Table[i].Value.Plain()):
			restart = append(restart, g.title()+": "+s.Quote())
		}
	}
	return changed, restart
}
