package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/agent/gate"
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

// idsOf returns the identifiers of gates.
func idsOf(gates []*gate.Gate) []wire.GateID {
	ids := make([]wire.GateID, 0, len(gates))
	for _, g := range gates {
		if g.TakesPart() {
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
	view, err := a.members.SetGates(append(idsOf(a.gates), wire.GateIDOf(c.Name)))
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
	if _, err := a.members.SetGates(idsOf(a.gates)); err != nil {
		g.Log().Warn().Err(err).Msg("the other members still see this one in the gate")
	}
	g.Log().Info().Msg("the gate is gone")
	beside.Signal(a.vacant)
}
