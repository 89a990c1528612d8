package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/patterns"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A gate that is added begins as at a start of the agent: with its past from the state directory, and with an
// announcement to the others. A gate that is removed is left as at a stop that drains: nothing new begins, what runs
// ends by itself, and the token is passed on. When nothing of it is left here and everything is on the disk, the gate
// is forgotten, and the others hear that this member takes no part. Its state stays in the state directory, so that a
// gate that comes back knows when it ran last.

// pastOf reads the past of a gate. It uses the disk, and nothing that belongs to the loop.
func (a *Agent) pastOf(cfg *gate.Config) (gate.Past, error) {
	return gate.Read(a.state, policy.Voter{Name: a.cfg.Name, ID: a.self}, cfg)
}

func (a *Agent) setGates(gates []*gate.Gate) {
	a.gates, a.byGate = gates, make(map[wire.GateID]*gate.Gate, len(gates))
	for _, g := range gates {
		a.byGate[g.ID()] = g
	}
	a.listed.Store(&gates)
}

// announced returns what this member announces: its gates, and its patterns in place of the gates that match them.
func announced(a *Agent) []wire.GateID {
	var ids []wire.GateID
	for _, p := range *a.patterns.Load() {
		ids = append(ids, p.ID)
	}
	for _, g := range a.gates {
		onDemand := func(id wire.GateID) bool { return gate.ConfigOf(g).Pattern != "" && g.ID().In(id) }
		if g.TakesPart() && !slices.ContainsFunc(ids, onDemand) {
			ids = append(ids, g.ID())
		}
	}
	return ids
}

// addAwaited adds every awaited gate that can be added now.
func (a *Agent) addAwaited(ctx context.Context) error {
	vacant, err := ask(ctx, a, func() []gate.Config { // without those whose predecessor of the same name is still there
		return slices.DeleteFunc(slices.Clone(a.awaited), func(c gate.Config) bool {
			return a.byGate[wire.GateIDOf(c.Name)] != nil
		})
	})
	for _, c := range vacant {
		past, cannot := a.pastOf(&c)
		if cannot != nil {
			a.log.Error().Err(cannot).Str("gate", c.Name).Msg("the gate is not added; repair it, and reload once more")
			err = errors.Join(err, fmt.Errorf("gate %q is not added: %w", c.Name, cannot))
			continue
		}
		if _, gone := ask(ctx, a, func() bool { return a.add(c, past) }); gone != nil {
			return gone
		}
	}
	return err
}

// add adds a gate, unless the agent stops. A gate waits for as long as an existing gate leaves it no room.
func (a *Agent) add(c gate.Config, p gate.Past) bool {
	if a.leaving {
		return false
	}
	view, err := a.members.SetGates(append(announced(a), wire.GateIDOf(c.Name)))
	if err != nil {
		return false
	}
	a.awaited = slices.DeleteFunc(a.awaited, func(o gate.Config) bool { return o.Name == c.Name })
	g := gate.New(a.env, c, p)
	a.setGates(append(slices.Clone(a.gates), g))
	g.Log().Info().Msg("the gate is added")
	a.view = view
	g.Begin()
	g.Meet()
	return true
}

// closeRemoved starts to forget the removed gates of which nothing is left.
func (a *Agent) closeRemoved() {
	for _, g := range a.gates {
		if !g.IsOver(a.cfg.StopTimeout) {
			continue
		}
		go func() {
			g.Close()
			a.ended <- func() { a.forget(g) }
		}()
	}
}

func (a *Agent) forget(g *gate.Gate) {
	if !g.Gone() {
		g.SayNobodyTook()
	}
	a.setGates(slices.DeleteFunc(slices.Clone(a.gates), func(o *gate.Gate) bool { return o == g }))
	if _, err := a.members.SetGates(announced(a)); err != nil {
		g.Log().Warn().Err(err).Msg("the other members still see this one in the gate")
	}
	g.Log().Info().Msg("the gate is gone")
	beside.Signal(a.vacant)
}

// byName makes and forgets gates that match a pattern: see package patterns.
type byName struct{ a *Agent }

// see notes who has the patterns, and tells their gates of it if that has changed.
func (d byName) see() {
	for _, p := range *d.a.patterns.Load() {
		ids, _, _ := network(d).Peers(p.ID, gate.DeclarationOf(&p.Config))
		if !p.See(d.a.clock.Now(), ids) {
			continue
		}
		for _, g := range d.a.gates {
			if gate.ConfigOf(g).Pattern == p.Config.Name {
				g.Meet()
			}
		}
	}
}

// bring brings the gates with these names into being, as far as they match a pattern, and are not here.
func (d byName) bring(names ...string) error {
	for _, name := range names {
		p := patterns.Matching(*d.a.patterns.Load(), name)
		if p == nil || slices.ContainsFunc(d.a.gates, func(g *gate.Gate) bool { return g.Name() == name }) {
			continue
		}
		id := wire.GateIDIn(p.ID, name)
		switch g := d.a.byGate[id]; {
		case g != nil && patterns.IsName(g.Name()):
			return refuse(control.NoGate, "gate %q has the identity of gate %q: choose another name", name, g.Name())
		case g != nil:
			gate.Rename(g, name)
		case !d.make(p, id, name):
			return refuse(control.Busy, "%d gates on demand are in use on this host, and that is the limit: ask again "+
				"when one has not been used for %v, use fewer names, or give gate %q a [[gate]] of its own",
				identity.MaxOnDemand, patterns.Spared, name)
		}
	}
	return nil
}

// make makes a gate of a pattern. If there is no place for it, one that nobody uses is forgotten.
func (d byName) make(p *patterns.Pattern, id wire.GateID, name string) bool {
	if d.a.leaving {
		return false
	}
	var oldest *gate.Gate
	n := 0
	for _, g := range d.a.gates {
		if gate.ConfigOf(g).Pattern == "" {
			continue
		}
		n++
		if gate.IsUnused(g, patterns.Spared) && (oldest == nil || gate.UsedAt(g).Before(gate.UsedAt(oldest))) {
			oldest = g
		}
	}
	if n >= identity.MaxOnDemand {
		if oldest == nil {
			return false
		}
		d.forget(oldest)
	}
	g := gate.New(d.a.env, p.Gate(id, name), gate.Fresh())
	d.a.setGates(append(slices.Clone(d.a.gates), g))
	gate.BeginOnDemand(g, p.Sights())
	return true
}

// forget forgets a gate that nobody uses, with what its machine knows.
func (d byName) forget(g *gate.Gate) {
	d.a.setGates(slices.DeleteFunc(slices.Clone(d.a.gates), func(o *gate.Gate) bool { return o == g }))
}

// forgetUnused forgets the gates that nobody has used for a while.
func (d byName) forgetUnused() {
	for _, g := range d.a.gates {
		if gate.IsUnused(g, patterns.Forgets) {
			d.forget(g)
		}
	}
}

// replace puts other patterns into force. Their gates get the new constants; those without a pattern are removed.
func (d byName) replace(next []gate.Config) {
	before, list := *d.a.patterns.Load(), patterns.New(next)
	for i, p := range list {
		if at := slices.IndexFunc(before, func(o *patterns.Pattern) bool { return o.ID == p.ID }); at >= 0 {
			list[i], before[at].Config = before[at], p.Config
		}
	}
	d.a.patterns.Store(&list)
	for _, g := range d.a.gates {
		switch name := gate.ConfigOf(g).Pattern; {
		case name == "":
		case !slices.ContainsFunc(list, func(p *patterns.Pattern) bool { return p.Config.Name == name }):
			g.Remove()
		default:
			c := patterns.Of(list, g.ID()).Config
			g.Apply(&c)
		}
	}
	if view, err := d.a.members.SetGates(announced(d.a)); err == nil {
		d.a.view = view
	}
	d.declare()
}

// declare lets this member take part in the gates of its patterns.
func (d byName) declare() {
	for _, p := range *d.a.patterns.Load() {
		d.a.members.Declare(p.ID, gate.DeclarationOf(&p.Config))
	}
	d.see()
}
