package config

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/wanderd/wanderd/policy/wander"
)

// tunable are the settings of a soft gate that can change while an agent runs, and those of any gate.
func tunable() (soft, each []string) {
	return []string{"min_interval", "retry_after", "max_interval", "op", "window", "walk", "backups", "on_lost"},
		[]string{"hook", "hook_timeout", "window_hard", "stop_after"}
}

// reloadable are the other settings that can change while an agent runs.
func reloadable() []string { return []string{"join", "stop", "stop_timeout", "trust_hook"} }

// Since compares a configuration that has been checked with the one that is in force, and with the one with which the agent has started.
// changed is what differs from the former and can change while an agent runs, restart what differs from the latter and cannot.
func (l *Layers) Since(inForce, start *Layers) (changed, restart []string) {
	shared := constants(&l.shared).Keys()
	for i, s := range l.Table {
		can := slices.Contains(reloadable(), s.Key)
		switch {
		case slices.Contains(shared, s.Key): // It is compared in each gate.
		case can && !reflect.DeepEqual(s.Value.Plain(), inForce.Table[i].Value.Plain()):
			changed = append(changed, s.Quote())
		case !can && !reflect.DeepEqual(s.Value.Plain(), start.Table[i].Value.Plain()):
			restart = append(restart, s.Quote())
		}
	}
	for _, g := range l.gates {
		began := start.gateNamed(g.Name)
		if began == nil {
			restart = append(restart, fmt.Sprintf("gate %q is new (%s)", g.Name, g.origin))
			continue
		}
		before := inForce.gateNamed(g.Name)
		if before == nil {
			before = began // It was gone for a while, but not from the agent.
		}
		c, r := g.since(before, began)
		changed, restart = append(changed, c...), append(restart, r...)
	}
	for _, g := range start.gates {
		if l.gateNamed(g.Name) == nil {
			restart = append(restart, fmt.Sprintf("gate %q is gone", g.Name))
		}
	}
	return changed, restart
}

// Keep gives the gates what they cannot change while the agent runs that has started with start.
func (l *Layers) Keep(start *Layers) {
	for i := range l.Agent.Gates {
		c := &l.Agent.Gates[i]
		began := start.gateNamed(c.Name)
		if began == nil {
			continue
		}
		s, soft := c.Protocol.(wander.Settings)
		if !soft || began.isStrict() {
			c.Protocol = began.config().Protocol
			continue
		}
		s.Skip, s.Slots = began.Skip, began.Slots
		c.Protocol = s
	}
}

func (l *Layers) gateNamed(name string) *gate {
	if i := slices.IndexFunc(l.gates, func(g *gate) bool { return g.Name == name }); i >= 0 {
		return l.gates[i]
	}
	return nil
}

// since compares a gate with itself. One that gets its first hook, or loses it, needs a restart as a whole.
func (g *gate) since(inForce, start *gate) (changed, restart []string) {
	soft, each := tunable()
	another := (len(g.Hook) == 0) != (len(start.Hook) == 0) || g.policy != start.policy
	for i, s := range g.Table {
		can := !another && (slices.Contains(each, s.Key) || !g.isStrict() && slices.Contains(soft, s.Key))
		switch {
		case can && !reflect.DeepEqual(s.Value.Plain(), inForce.Table[i].Value.Plain()):
			changed = append(changed, g.title()+": "+s.Quote())
		case !can && !reflect.DeepEqual(s.Value.Plain(), start.Table[i].Value.Plain()):
			restart = append(restart, g.title()+": "+s.Quote())
		}
	}
	return changed, restart
}
