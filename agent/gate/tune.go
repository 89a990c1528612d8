package gate

import (
	"reflect"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/stages"
)

// Apply puts a changed configuration of the gate into force. A run that has begun goes on as it was.
func (g *Gate) Apply(next *Config) (tuned bool) {
	defer g.contain()
	g.cfg.Hook, g.cfg.HookTimeout, g.cfg.WindowHard = next.Hook, next.HookTimeout, next.WindowHard
	g.cfg.StopAfter, g.cfg.Aftercare = next.StopAfter, next.Aftercare
	g.machine.StopAfter(next.StopAfter)
	g.cfg.StandStill, g.cfg.MaxDown = next.StandStill, next.MaxDown
	g.cfg.With, g.cfg.Zone, g.cfg.WithWait = next.With, next.Zone, next.WithWait
	g.machine.StandStill(next.StandStill)
	g.cfg.Once = next.Once
	g.machine.Once(next.Once)
	g.replaceReady(next)
	g.down.lookAround(g)
	if !reflect.DeepEqual(g.cfg.Stages, next.Stages) {
		g.cfg.Stages = next.Stages
		g.watch.Set(next.Stages, g.env.Name)
		g.env.Fleet.Stand(g.id, stages.Unsaid)
		lookAtStages(g, true)
		g.event.Kind = policy.Woke
		g.step()
	}
	if reflect.DeepEqual(g.cfg.Protocol, next.Protocol) {
		return true
	}
	machine, ok := g.machine.Machine.(policy.Tunable)
	if !ok || !machine.Tune(next.Protocol) {
		return false
	}
	g.cfg.Protocol, g.cfg.AnyTime, g.callers.opened = next.Protocol, next.AnyTime, false
	g.event.Kind = policy.Woke
	g.step()
	return true
}

// replaceReady replaces the ready check. The answer to the former one no longer counts.
func (g *Gate) replaceReady(next *Config) {
	another := !slices.Equal(g.cfg.Ready, next.Ready)
	g.cfg.Ready, g.cfg.ReadyTimeout, g.cfg.ReadyAgain = next.Ready, next.ReadyTimeout, next.ReadyAgain
	if !another {
		return
	}
	g.asking.unask()
	g.asking.said, g.asking.at, g.asking.why, g.asking.yesSince = "", time.Time{}, "", time.Time{}
	g.tellDue()
	g.event.Kind = policy.Woke
	g.step()
}
