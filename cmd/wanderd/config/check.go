package config

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/membership"
)

// Check returns the configuration if all of it was understood and fits together, and an [Invalid] otherwise. It looks at
// hooks and reads the secret.
func (l *Layers) Check() (*Config, error) {
	c := checker{Layers: l, bad: slices.Clone(l.bad), warnings: slices.Clone(l.Warnings)}
	if l.unread {
		return nil, c.bad.err()
	}
	c.positive(&gate{values: l.top}, StopTimeout)
	c.gates()
	c.name()
	c.socket()
	c.network()
	c.advertise()
	secret := c.secret()
	if err := c.bad.err(); err != nil {
		return nil, err
	}
	return l.config(secret, c.warnings), nil
}

// checker looks for what does not fit together, and leaves alone what was not understood in the first place.
type checker struct {
	*Layers
	bad      problems
	warnings []string
}

func (c *checker) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

func (c *checker) gates() {
	tables := len(c.Layers.gates) > 0 && !c.fromHook()
	switch {
	case len(c.Layers.gates) == 0 && !c.incomplete:
		c.bad.add("nothing to gate: pass --%s ./sync.sh, or a file with [[%s]] tables with --%s",
			Hook.Setting().Flag(), gateTable, File.Setting().Flag())
	case tables && c.top[Hook].Set:
		c.bad.add("%s makes the gate %q, and %s describes gates of its own: "+
			"put the hook into a [[%s]] table with the name %[2]q, or drop the tables",
			c.top[Hook].Origin.of(Hook.Setting()), DefaultGate, c.Layers.gates[0].origin, gateTable)
	case len(c.Layers.gates) > membership.MaxGates:
		c.bad.add("%s: this is gate %d, and an agent can have %d: run a second agent for the rest",
			c.Layers.gates[membership.MaxGates].origin, membership.MaxGates+1, membership.MaxGates)
	}
	for i := range c.Layers.gates {
		g := &c.Layers.gates[i]
		c.hook(g)
		c.constants(g)
	}
}

func (c *checker) hook(g *gate) {
	h := g.values[Hook]
	switch {
	case h.broken:
	case !h.Set:
		if !c.incomplete {
			c.bad.add("%s: %s has no %s: give it one, as in %[3]s = [\"./sync.sh\"]", g.origin, g.title(), Hook.Setting().Key)
		}
	default:
		if err := hook.Check(h.List); err != nil {
			c.bad.add("%s: %s", h.Origin.of(Hook.Setting()), err)
		}
	}
}

// constants compares the constants of a gate.
func (c *checker) constants(g *gate) {
	for _, id := range []ID{Skip, Op, MinInterval, MaxInterval, HookTimeout} {
		c.positive(g, id)
	}
	c.atLeast(g, MinInterval, Op, "a host would be due again before it has finished")
	c.atLeast(g, MaxInterval, MinInterval, "every host would take the token for lost between two runs")
	if g.values[HookTimeout].Origin.Layer != Default { // else it is min_interval, which has been compared
		c.atLeast(g, HookTimeout, Op, "a run of typical length would be stopped")
	}
}

func (c *checker) positive(g *gate, id ID) {
	v := g.values[id]
	if !v.Set || v.Duration > 0 {
		return
	}
	remedy := "leave it out for the default"
	if s := id.Setting(); s.DefaultText() != "" {
		remedy += ", " + s.DefaultText()
	}
	c.bad.add("%s%s is no time at all: %s", c.scope(g, id), c.quote(g, id), remedy)
}

// atLeast demands that one constant is not below another.
func (c *checker) atLeast(g *gate, high, low ID, because string) {
	h, l := g.values[high], g.values[low]
	if !h.Set || !l.Set || h.Duration >= l.Duration || h.Duration == 0 { // no time at all is an error of its own
		return
	}
	c.bad.add("%s%s is below %s, so %s: raise %s or lower %s", c.scope(g, high, low), c.quote(g, high), c.quote(g, low), because,
		high.Setting().Key, low.Setting().Key)
}

// scope begins a message about constants with the gate, unless they are those of all gates.
func (c *checker) scope(g *gate, ids ...ID) string {
	for _, id := range ids {
		if g.own[id] {
			return g.title() + ": "
		}
	}
	return ""
}

// quote writes a constant with its value and origin.
func (c *checker) quote(g *gate, id ID) string {
	v := g.values[id]
	return fmt.Sprintf("%s %s (%s)", id.Setting().Key, FormatDuration(v.Duration), v.Origin)
}
