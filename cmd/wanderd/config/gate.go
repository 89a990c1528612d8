package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/patterns"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/downcount"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

const (
	gateKey    = "gate"
	maxPerZone = wire.MaxSlots
)

// section is one gate with its settings.
type section struct {
	settings.Reading
	terms
	origin settings.Origin
}

// terms are the settings of a gate: those that the agent needs, and those of its protocol. The settings are those of a
// wandering token; other gates share some of them.
type terms struct {
	gate.Config
	policy string
	wander.Settings
	request ring.Request
	lease   time.Duration
	// once is true if a success counts for all members.
	once bool
	// keepOver is what happens if a host stays away for longer than keep.
	keepOver string
	// slots is how many hosts may run at once, or for how many of a hundred members one may.
	slots downcount.Limit
	// perZone is how many hosts of one zone may run at once; zero if zones do not matter.
	perZone int
}

func (g *section) config() gate.Config {
	c := g.Config
	if c.ReadyAgain = cmp.Or(g.RetryAfter, g.MinInterval); len(c.Ready) == 0 {
		c.ReadyTimeout, c.ReadyAgain = 0, 0
	}
	if len(c.Aftercare.After) == 0 {
		c.Aftercare.Every, c.Aftercare.Timeout = 0, 0
	}
	if len(c.Stages.First) == 0 {
		c.Stages.Wait = 0
	}
	if g.once {
		c.Once = g.MinInterval
	}
	c.StandStill = g.keepOver == keepStandStill && g.Config.Keep > 0
	if c.Protocol = g.strict(); !g.isStrict() {
		s := g.Settings
		s.Slots, s.SlotsShare, s.Keep, s.Soak = g.slots.Count, g.slots.Percent, c.Keep, c.Aftercare.Soak
		c.Protocol, c.Roster, c.KillAfter = s, nil, 0
		if g.isCall() {
			c.Protocol = g.call()
		}
	}
	c.AnyTime = anyTime(c.Protocol)
	return c
}

// anyTime returns a protocol without its windows; nil if it has none.
func anyTime(p policy.Protocol) policy.Protocol {
	switch s := p.(type) {
	case strict.Settings:
		if len(s.Windows) > 0 {
			s.Windows = nil
			return s
		}
	case wander.Settings:
		if len(s.Windows) > 0 {
			s.Windows = nil
			return s
		}
	case call.Settings:
		if len(s.Windows) > 0 {
			s.Windows = nil
			return s
		}
	}
	return nil
}

// gateTables returns the [[gate]] tables, in whatever form they are written.
func (l *Layers) gateTables(file *settings.File) (tables []map[string]any) {
	switch c := file.Content[gateKey].(type) {
	case nil:
	case []map[string]any:
		tables = c
	case []any:
		for _, e := range c {
			if t, ok := e.(map[string]any); ok {
				tables = append(tables, t)
			} else {
				l.Complain("%s: gate holds %s: want tables, each under a header [[gate]]", file.Origin(gateKey),
					settings.KindOf(e))
			}
		}
	default:
		l.Complain("%s: gate is %s: begin each gate with a header [[gate]], in two pairs of brackets",
			file.Origin(gateKey),
			settings.KindOf(c))
	}
	return tables
}

// newGate returns a gate without a name, with all settings as at the top.
func (l *Layers) newGate(origin settings.Origin) *section {
	g := &section{terms: l.shared, origin: origin}
	g.WithWait = withWait
	g.Reading = l.With(g.table())
	for _, top := range constants(&l.shared) {
		s, top := g.Find(top.Key), l.Find(top.Key)
		s.Origin, s.Broken = top.Origin, top.Broken
	}
	return g
}

func (l *Layers) hookGate() *section {
	g := l.newGate(l.Of(&l.shared.Hook).Origin)
	g.Name = defaultGate
	g.ByRule(&g.Name, "")
	g.defaultPolicy(true)
	g.defaultStrict()
	return g
}

// readGate makes a gate from a [[gate]] table. What the table leaves out is as at the top, except the hook and its
// ready check.
func (l *Layers) readGate(file *settings.File, key string, content map[string]any) *section {
	g := l.newGate(file.Origin(key))
	h := g.Of(&g.Hook)
	g.Hook, g.Ready = nil, nil
	for _, own := range []*settings.Setting{h, g.Of(&g.Ready)} {
		own.Origin, own.Broken = settings.Origin{}, false
	}
	own := g.Read(file, key+".", content, func(key string) string { return l.unknownKey(key, " in [[gate]]", g.Table) })
	g.Apply(own)
	for key := range own {
		g.Find(key).Scope = g.title()
	}
	defaultTimes(&g.Reading, &g.terms, !h.IsFree())
	g.defaultPolicy(!h.IsFree())
	g.defaultStrict()
	l.checkGateName(g)
	return g
}

func (l *Layers) checkGateName(g *section) {
	name := g.Of(&g.Name)
	switch i := slices.IndexFunc(l.gates, func(o *section) bool { return o.Name == g.Name }); {
	case name.Broken:
	case name.IsFree():
		l.Complain("%s: this gate has no name: give it one, the same on every host", g.origin)
	case g.Name == "." || g.Name == "..":
		l.Reject(name, "%q is a directory in every path: give the gate a name with a letter or a digit", g.Name)
	case !patterns.IsName(g.Name) && !patterns.IsPattern(g.Name):
		l.Reject(name, "%q cannot name a gate: use 1 to %d of a-z, 0-9, '-', '_' and '.', and a star at the end for a "+
			"pattern", g.Name, patterns.MostName)
	case i >= 0:
		l.Reject(name, "the gate %q already exists in line %d: rename one of them", g.Name, l.gates[i].origin.Line)
	}
}

func (g *section) title() string {
	if g.Name == "" {
		return fmt.Sprintf("the gate in line %d", g.origin.Line)
	}
	return fmt.Sprintf("gate %q", g.Name)
}
