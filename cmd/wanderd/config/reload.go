package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/wander"
)

// reloadable returns the settings, besides those of gates, that can change while an agent runs.
func reloadable() []string {
	return []string{
		"join", "stop", "stop_timeout", "trust_hook", "on_event", "on_event_timeout", "webhook", "webhook_file",
		"webhook_body", "events", "zone",
	}
}

// tunable returns the settings of a gate that can change while an agent runs. A gate that gets its first hook, or loses
// it, needs a restart as a whole.
func (g *section) tunable(began *section) []string {
	if (len(g.Hook) == 0) != (len(began.Hook) == 0) || g.policy != began.policy {
		return nil
	}
	each := []string{
		"hook", "hook_timeout", "ready", "ready_timeout", "min_interval", "retry_after", "window",
		"window_hard", "stop_after", "once", "max_down", "first", "first_wait", "soak", "after", "after_every",
		"after_timeout", "keep_over", "with", "with_wait",
	}
	switch {
	case g.isStrict():
		return each
	case g.isCall():
		return append(each, "max_interval", "backups", "on_lost")
	}
	return append(each, "max_interval", "op", "walk", "backups", "on_lost", "ask_before_run")
}

// Running is the configuration of a running agent: that with which it started, as changed by reloads.
type Running struct {
	start, inForce *Layers
	// began has each gate as it was when it began.
	began map[string]*section
}

// NewRunning returns the configuration of an agent that starts with these layers.
func NewRunning(start *Layers) *Running {
	r := &Running{start: start, began: make(map[string]*section)}
	r.Accept(start)
	return r
}

// Compare compares a configuration that has been checked with the one in force, and with the one with which each part
// has begun. changed is what differs from the former and can change while an agent runs; restart is what differs from
// the latter and cannot.
func (r *Running) Compare(l *Layers) (changed, restart []string) {
	compare := func(title string, now, inForce, began settings.Table, tunable []string) {
		for i, s := range now {
			can := slices.Contains(tunable, s.Key)
			switch {
			case can && !reflect.DeepEqual(s.Value.Plain(), inForce[i].Value.Plain()):
				changed = append(changed, title+quote(s))
			case !can && !reflect.DeepEqual(s.Value.Plain(), began[i].Value.Plain()):
				restart = append(restart, title+s.Quote())
			}
		}
	}
	shared := len(constants(&l.shared)) // The shared constants come first, and are compared in each gate.
	compare("", l.Table[shared:], r.inForce.Table[shared:], r.start.Table[shared:], reloadable())
	for _, g := range l.gates {
		before := r.inForce.gateNamed(g.Name)
		if before == nil {
			changed = append(changed, fmt.Sprintf("%s is new (%s)", g.title(), g.origin))
			continue
		}
		began := r.began[g.Name]
		compare(g.title()+": ", g.Table, before.Table, began.Table, g.tunable(began))
	}
	for _, g := range r.inForce.gates {
		if l.gateNamed(g.Name) == nil {
			changed = append(changed, g.title()+" is removed")
		}
	}
	return changed, restart
}

// quote writes a setting with its value and origin. The URL of a webhook may be a secret, and this goes to the log.
func quote(s *settings.Setting) string {
	if s.Key == "webhook" {
		return s.Key + " (" + s.From() + ")"
	}
	return s.Quote()
}

// Keep restores in l the settings of gates that cannot change while the gates exist.
func (r *Running) Keep(l *Layers) {
	for i := range l.Agent.Gates {
		c := &l.Agent.Gates[i]
		began := r.began[c.Name]
		if of := r.began[c.ZoneOf]; of != nil && of.perZone > 0 {
			next, _ := c.Protocol.(call.Settings)
			zone, _ := of.zoneGate().Protocol.(call.Settings)
			zone.Soak = next.Soak
			c.Protocol = zone
		}
		if began == nil {
			continue
		}
		switch s := began.config().Protocol.(type) {
		case strict.Settings:
			if next, ok := c.Protocol.(strict.Settings); ok {
				s.MinInterval, s.RetryAfter, s.Windows = next.MinInterval, next.RetryAfter, next.Windows
				s.Once, s.Soak = next.Once, next.Soak
			}
			c.Protocol = s
		case wander.Settings:
			if next, ok := c.Protocol.(wander.Settings); ok {
				next.Skip, next.Slots, next.SlotsShare, next.Keep = s.Skip, s.Slots, s.SlotsShare, s.Keep
				s = next
			}
			c.Protocol = s
		case call.Settings:
			if next, ok := c.Protocol.(call.Settings); ok {
				next.Skip, next.Slots, next.SlotsShare, next.Keep = s.Skip, s.Slots, s.SlotsShare, s.Keep
				s = next
			}
			c.Protocol = s
		}
		c.AnyTime = anyTime(c.Protocol)
	}
}

// Accept records that a configuration has come into force.
func (r *Running) Accept(l *Layers) {
	r.inForce = l
	maps.DeleteFunc(r.began, func(name string, _ *section) bool { return l.gateNamed(name) == nil })
	for _, g := range l.gates {
		if r.began[g.Name] == nil {
			r.began[g.Name] = g
		}
	}
}

func (l *Layers) gateNamed(name string) *section {
	if i := slices.IndexFunc(l.gates, func(g *section) bool { return g.Name == name }); i >= 0 {
		return l.gates[i]
	}
	return nil
}
