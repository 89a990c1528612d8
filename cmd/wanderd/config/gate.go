package config

import (
	"fmt"
	"slices"
	"strings"
)

const maxGateName = 64

// readGate makes a gate of a [[gate]] table; what the table leaves out is as at the top.
func (l *Layers) readGate(table gateLayer) gate {
	g := gate{values: l.top, origin: table.origin}
	g.values[Hook] = Value{Origin: table.origin}
	for _, s := range GateSettings() {
		r, ok := table.given[s.ID]
		if !ok {
			continue
		}
		g.own[s.ID] = true
		g.values[s.ID] = l.parse(s, r)
	}
	if !g.own[GatePolicy] {
		g.values[GatePolicy] = Value{Set: true, Text: GatePolicy.Setting().Default}
	}
	g.defaultHookTimeout()
	l.checkGateName(&g)
	return g
}

// hookGate is the gate of --hook.
func (l *Layers) hookGate() gate {
	g := gate{values: l.top, origin: l.top[Hook].Origin}
	g.values[GateName] = Value{Set: true, Text: DefaultGate}
	g.values[GatePolicy] = Value{Set: true, Text: GatePolicy.Setting().Default}
	return g
}

// fromHook reports whether the only gate is that of --hook.
func (l *Layers) fromHook() bool {
	return len(l.gates) == 1 && l.gates[0].origin == l.top[Hook].Origin
}

// checkGateName looks at a name, and whether an earlier gate has it.
func (l *Layers) checkGateName(g *gate) {
	name := &g.values[GateName]
	s := GateName.Setting()
	switch {
	case name.broken:
		return
	case !name.Set:
		l.bad.add("%s: this gate has no %s: give it one, the same on every host", g.origin, s.Key)
	case len(name.Text) > maxGateName || strings.ContainsFunc(name.Text, notInGateName):
		l.bad.add("%s: %q cannot name a gate: use 1 to %d of a-z, 0-9, '-', '_' and '.'", name.Origin.of(s), name.Text, maxGateName)
	default:
		i := slices.IndexFunc(l.gates, func(o gate) bool { return o.values[GateName].Text == name.Text })
		if i < 0 {
			return
		}
		l.bad.add("%s: the gate %q is there already, in line %d: rename one of them", name.Origin.of(s), name.Text, l.gates[i].origin.Line)
	}
	name.broken = true
}

func notInGateName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.'
}

// title names a gate in a message.
func (g *gate) title() string {
	if g.values[GateName].Text == "" {
		return fmt.Sprintf("the gate in line %d", g.origin.Line)
	}
	return fmt.Sprintf("gate %q", g.values[GateName].Text)
}
