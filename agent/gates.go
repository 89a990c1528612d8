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
// announcement to the others. One that is removed is left as at a stop that drains: nothing begins any more, what runs
// ends by itself, and the token is passed on. Only when nothing of it is left here, and all is on the disk, it is
// forgotten, and the others hear that this member takes no part. Its state stays in the state directory: a gate that
// comes back knows when it ran last.

// pastOf reads the past of a gate. It uses the disk, and nothing of the loop's.
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

// idsOf are the gates in which this member takes part.
func idsOf(gates []*gate.Gate) []wire.GateID {
	ids := make([]wire.GateID, 0, len(gates))
	for _, g := range gates {
		if g.TakesPart() {
			ids = append(ids, g.ID())
		}
	}
	return ids
}

// addAwaited adds all gates that can be.
func (a *Agent) addAwaited(ctx context.Context) error {
	vacant, err := ask(ctx, a, func() []gate.Config { // the predecessor of the others is still there
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

// add adds a gate, unless the agent stops. While a gate is there that leaves it no room it has to wait.
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

// closeRemoved begins to forget the removed gates of which nothing is left.
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
