package config

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/patterns"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/wander"
)

// Gates whose runs hold other gates, too: those that they name, and that of the zone of this host.

// zoneMark stands between the name of a gate and a zone, in the name of the gate of that zone. No name that a person
// gives has it.
const zoneMark = "@"

// withWait is the default of with_wait.
const withWait = time.Minute

// zoneGate is the gate that a run of g holds in this host's zone. It has as many tokens as hosts of one zone may run at
// once, and comes when it is called, as nobody waits for it at rest.
func (g *section) zoneGate() gate.Config {
	return gate.Config{
		Name: g.Zone, ZoneOf: g.Name, WithWait: g.WithWait, Protocol: call.Settings{
			Skip: g.Skip, Backups: max(g.Backups, 1), OnLost: g.OnLost, Slots: g.perZone, Soak: g.Aftercare.Soak,
		},
	}
}

// soaksFor returns a protocol under which hosts may soak for at least that time: their runs hold a gate that soaks.
func soaksFor(p policy.Protocol, soak time.Duration) policy.Protocol {
	switch s := p.(type) {
	case wander.Settings:
		s.Soak = max(s.Soak, soak)
		return s
	case call.Settings:
		s.Soak = max(s.Soak, soak)
		return s
	case strict.Settings:
		s.Soak = max(s.Soak, soak)
		return s
	}
	return p
}

// checkTogether checks what gates hold together, and adds the gates of zones.
func (l *Layers) checkTogether() {
	zone := l.Of(&l.zone)
	if l.zone != "" && !patterns.IsName(l.zone) {
		l.Reject(zone, "%q cannot name a zone: use 1 to %d of a-z, 0-9, '-', '_' and '.'", l.zone, patterns.MostName)
	}
	all := len(l.gates)
	for i, g := range l.gates {
		l.checkWith(g)
		for k := range l.Agent.Gates {
			if other := &l.Agent.Gates[k]; slices.Contains(g.Config.With, other.Name) {
				other.Protocol = soaksFor(other.Protocol, g.Aftercare.Soak)
			}
		}
		g.checkPattern()
		s := g.Of(&g.perZone)
		switch {
		case g.perZone == 0 || s.Broken || zone.Broken:
			continue
		case l.zone == "":
			g.Reject(s, "the zone of this host is not known: set zone at the top, as in zone = \"eu-1a\"")
		case g.isStrict():
			g.Reject(s, "one host at a time may run in a strict gate anyway: leave it out")
		case g.perZone >= g.mostSlots():
			g.Object("%s does not matter with %s: set a lower one, or leave it out", s, g.Of(&g.slots))
		}
		if all++; all > identity.MaxGates {
			g.Reject(s, "the gate of the zone is one more, and an agent can have %d in all", identity.MaxGates)
		}
		g.Zone = g.Name + zoneMark + l.zone
		l.Agent.Gates[i].Zone = g.Zone
		l.Agent.Gates = append(l.Agent.Gates, g.zoneGate())
	}
}

// checkWith checks the gates that a run of g holds, too. Everybody takes gates with others first, and the others after
// them: so nobody waits for somebody who waits for him.
func (l *Layers) checkWith(g *section) {
	s, wait := g.Of(&g.Config.With), g.Of(&g.WithWait)
	if len(g.Config.With) == 0 && g.perZone == 0 && wait.IsGiven() && !wait.Broken && !s.Broken {
		g.Reject(wait, "it has no effect without with or per_zone: leave it out")
	}
	for i, name := range g.Config.With {
		other := l.gateNamed(name)
		switch {
		case s.Broken:
			return
		case name == g.Name:
			g.Reject(s, "%q is this gate itself: leave it out", name)
		case slices.Contains(g.Config.With[:i], name):
			g.Reject(s, "%q is in it twice: leave one out", name)
		case patterns.IsPattern(name):
			g.Reject(s, "%q is a pattern: name a gate", name)
		case other == nil:
			g.Reject(s, "this host has no gate %q: add a [[gate]] with that name, without a hook if it runs nothing "+
				"of its own", name)
		case len(other.Config.With) > 0:
			g.Reject(s, "%s names others, too (%s): only gates without a with can be held by the runs of others, so "+
				"that hosts do not wait for each other. Name all of them here, and leave out with there",
				other.title(), other.Of(&other.Config.With).Origin)
		case other.Config.Keep > 0:
			g.Object("%s and keep of "+other.title()+": a grant that outlives its host cannot be held for another "+
				"gate: leave out keep there", s)
		}
	}
	if k := g.Of(&g.Config.Keep); g.Config.Keep > 0 && !k.Broken && !s.Broken && len(g.Config.With) > 0 {
		g.Object("%s and %s: a run that holds several gates ends with its agent; leave one of them out", s, k)
	}
}

// checkPattern checks what a gate cannot have that is made when it is named, and of which nothing is remembered.
func (g *section) checkPattern() {
	if !patterns.IsPattern(g.Name) {
		return
	}
	switch hook := g.Of(&g.Hook); {
	case hook.IsSet():
		g.Reject(hook, "%s is a pattern: its gates are made when a caller names them, and run only commands of "+
			"callers; leave it out, or give the gate a name without a star", g.title())
	case !g.isCall():
		g.Reject(g.Of(&g.policy), "%s is a pattern, and its gates are on call: set policy = %q there", g.title(),
			usual.PolicyCall)
	}
	for _, has := range []struct {
		it any
		is bool
	}{{&g.MinInterval, g.MinInterval > 0}, {&g.Config.Keep, g.Config.Keep > 0}, {&g.perZone, g.perZone > 0}} {
		if s := g.Of(has.it); has.is && !s.Broken {
			g.Reject(s, "%s is a pattern, and nothing is remembered of its gates: leave %s out there, or set it to 0",
				g.title(), s.Key)
		}
	}
}

// together are the settings of what a run holds besides its own gate.
func (g *section) together() settings.Table {
	return settings.Table{
		settings.Row("with", settings.List(&g.Config.With), "",
			"Gates that a run of this one holds, too, as in with = [\"backup\"]: none of their hooks and commands "+
				"runs at the same time, on any host. All hosts take gates in one order: gates with others, then the "+
				"others, each by name. A run starts when it holds all of them, and loses its right to run with "+
				"the first that it loses. They must be gates of this host without a with and without keep. All "+
				"hosts should have the same.").As("GATE,GATE,..."),
		settings.Row("per_zone", settings.Count(&g.perZone, 0, maxPerZone), "0",
			"How many hosts of one zone may run at once, whatever slots say: see zone. A run then also holds the gate "+
				"NAME@ZONE, which wanderd makes. All hosts must have the same number. 0 is no limit.").As("NUMBER"),
		settings.Row("with_wait", settings.Positive(&g.WithWait), settings.FormatDuration(withWait),
			"How long a run that has its token may wait for the other gates, all together. Then it lets go of all, "+
				"the token goes on, and the run is tried again at a later turn. It should be longer than the other "+
				"gates' runs take."),
	}
}
