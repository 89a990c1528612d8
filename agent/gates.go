package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// A gate that is added begins as at a start of the agent: with its past from the state directory, and with an announcement to the others.
// One that is removed is left as at a stop that drains: nothing begins any more, what runs ends by itself, and the token is passed on. Only
// when nothing of it is left here, and all is on the disk, it is forgotten, and the others hear that this member takes no part. Its state stays in the state
// directory: a gate that comes back knows when it ran last.

func (a *Agent) setGates(gates []*gate) {
	a.gates, a.byGate = gates, make(map[wire.GateID]*gate, len(gates))
	for _, g := range gates {
		a.byGate[g.id] = g
	}
	a.listed.Store(&gates)
}

// idsOf are the gates in which this member takes part.
func idsOf(gates []*gate) []wire.GateID {
	ids := make([]wire.GateID, 0, len(gates))
	for _, g := range gates {
		if g.takesPart() {
			ids = append(ids, g.id)
		}
	}
	return ids
}

// addAwaited adds all gates that can be.
func (a *Agent) addAwaited(ctx context.Context) error {
	vacant, err := ask(ctx, a, func() []GateConfig { // the predecessor of the others is still there
		return slices.DeleteFunc(slices.Clone(a.awaited), func(c GateConfig) bool { return a.byGate[wire.GateIDOf(c.Name)] != nil })
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
func (a *Agent) add(c GateConfig, p past) bool {
	if a.leaving {
		return false
	}
	view, err := a.members.SetGates(append(idsOf(a.gates), wire.GateIDOf(c.Name)))
	if err != nil {
		return false
	}
	a.awaited = slices.DeleteFunc(a.awaited, func(o GateConfig) bool { return o.Name == c.Name })
	g := newGate(a, c, p)
	a.setGates(append(slices.Clone(a.gates), g))
	g.log.Info().Msg("the gate is added")
	a.view = view
	g.begin()
	g.meet()
	return true
}

// remove lets a gate go that the configuration does not have any more.
func (g *gate) remove() {
	if g.removed {
		return
	}
	g.removed, g.leaving = true, true
	g.log.Info().Bool("runs", g.run != nil).Msg("the gate is removed: waiting for what runs, and passing its token on")
	g.callers.leave(g.refusal())
	if g.run == nil {
		g.leaveGate()
	}
}

// closeRemoved begins to forget the removed gates of which nothing is left.
func (a *Agent) closeRemoved() {
	for _, g := range a.gates {
		if !g.isOver(a.cfg.StopTimeout) {
			continue
		}
		go func() {
			g.endHistory()
			a.ended <- func() { a.forget(g) }
		}()
	}
}

// isOver reports, once, that nothing of a removed gate is left: no process, nothing in its machine, nothing on its way to the disk. A token that nobody
// takes is waited for as at a stop, for that long.
func (g *gate) isOver(patience time.Duration) bool {
	saves := g.saver.busy() || g.saver.wanted || g.roster != nil && g.roster.saving
	if !g.removed || g.closing || !g.left || g.run != nil || g.asking.run != nil || saves || !g.gone && time.Since(g.leftAt) <= patience {
		return false
	}
	g.closing = true
	return true
}

// takesPart reports whether this member takes part: not in a gate that a fault has closed, when nothing runs under it any more.
func (g *gate) takesPart() bool { return !g.isClosed() || g.run != nil }

func (a *Agent) forget(g *gate) {
	if !g.gone {
		g.sayNobodyTook()
	}
	a.setGates(slices.DeleteFunc(slices.Clone(a.gates), func(o *gate) bool { return o == g }))
	if _, err := a.members.SetGates(idsOf(a.gates)); err != nil {
		g.log.Warn().Err(err).Msg("the other members still see this one in the gate")
	}
	g.log.Info().Msg("the gate is gone")
	signal(a.vacant)
}
