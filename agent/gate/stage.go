package gate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/wire"
)

// The members of a gate may run its operation stage by stage: see package stages. A member that has to wait for an
// earlier stage is not ready, so the token passes by, or is not called. Callers with commands do not wait.

// beginStages begins with what the history says of the last run.
func beginStages(g *Gate) {
	g.watch.Set(g.cfg.Stages, g.env.Name)
	runs := g.history.Runs()
	for i := range slices.Backward(runs) {
		if r := &runs[i]; r.Command == "" {
			// A run that a stop has cut short comes again, or has rebooted its host.
			g.watch.Failed = r.Failed() && r.Cut != history.CutStopped
			return
		}
	}
}

// mayRun reports whether this host is ready, and no earlier stage holds it up.
func mayRun(g *Gate, now policy.Time) bool { return g.isReady(now) && g.watch.IsOpen(time.Now()) }

// own is what decides where this member stands.
func own(g *Gate, now policy.Time) stages.Own {
	q := &g.asking
	o := stages.Own{
		Ready: g.isReady(now), Failed: g.watch.Failed, Runs: g.run != nil && g.run.isHook || g.kept.back != nil,
		Saves: g.saver.busy(), PausedHere: g.env.Clock.Now().Wall < g.machine.Here(),
		Ordered: g.callers.ownPlace() >= 0,
	}
	if g.cfg.asks() {
		o.No = q.said == control.AnswerNo
		o.Stale = g.cfg.ReadyAgain + g.cfg.ReadyTimeout
	}
	o.Due = dueNow(g, now) <= now
	return o
}

// dueNow is when the operation is due here if the host is ready then.
func dueNow(g *Gate, now policy.Time) policy.Time {
	at := policy.Never
	if m, ok := g.machine.Machine.(policy.Askable); ok {
		at = m.DueAt(now)
	}
	if g.callers.ownPlace() >= 0 && !g.machine.Paused() {
		at = now
	}
	return at
}

// announceStanding tells the others where this member stands, if that has changed.
func announceStanding(g *Gate) {
	if len(g.cfg.Stages.First) == 0 || g.exit.leaving {
		return
	}
	o := own(g, g.env.Clock.Now().Time)
	if said, news := g.watch.See(&o, time.Now()); news {
		g.env.Fleet.Stand(g.id, said)
	}
}

// lookAtStages looks where the members of earlier stages stand, if that may have changed or it is time. If this member
// may run now, the machine reconsiders.
func lookAtStages(g *Gate, news bool) {
	if len(g.cfg.Stages.First) == 0 {
		return
	}
	announceStanding(g)
	if !g.watch.Waits() {
		return
	}
	now := time.Now()
	if news || !now.Before(g.watch.LookAt(now)) {
		g.watch.Look(membersOf(g), now)
	}
	if g.watch.Turned(now) {
		why := cmp.Or(g.watch.Why(now), "no earlier stage holds this member up")
		g.log.Debug().Str("stage", g.watch.Stage()).Msg(why)
		g.event.Kind = policy.Woke
		g.step()
	}
}

// stagesWakeAt is when stages next need to be looked at.
func stagesWakeAt(g *Gate, now policy.Time) policy.Time {
	at := policy.Never
	if len(g.cfg.Stages.First) == 0 {
		return at
	}
	if due := dueNow(g, now); due > now {
		at = due
	}
	if look := g.watch.LookAt(time.Now()); !look.IsZero() {
		at = min(at, now.Add(max(time.Until(look), 0)))
	}
	return at
}

// waitsForStage looks once more whether an earlier stage holds up the run that is granted.
func waitsForStage(g *Gate) bool {
	if g.watch.Waits() {
		g.watch.Look(membersOf(g), time.Now())
	}
	return !g.watch.IsOpen(time.Now())
}

// membersOf returns the other members of a gate, those that are away included.
func membersOf(g *Gate) (list []stages.Member) {
	for _, p := range append(g.env.Fleet.Members(g.id), g.env.Fleet.Away(g.id)...) {
		if p.ID != g.env.Self && (p.InGate || !p.AwaySince.IsZero()) {
			list = append(list, stages.Member{Name: p.Name, Standing: p.Standing, Away: p.AwaySince})
		}
	}
	return list
}

// endsStage takes in how a run has ended. A failure in a stage pauses the gate before the token goes on, so that the
// token carries the directive.
func (f *finished) endsStage(g *Gate, l *launch) {
	r := &f.result
	failed := f.unhealthy || l.isHook && outcomeOf(r) == policy.Failed
	if l.isHook {
		g.watch.Failed = failed
	}
	if failed && exitOf(r) > 0 {
		failsStage(g, fmt.Sprintf("exit %d", exitOf(r)))
	}
}

// failsStage pauses the gate on all hosts, because a run in a stage has failed here.
func failsStage(g *Gate, how string) {
	if !g.watch.IsEarly() || g.machine.Newest().Until == wire.ForEver {
		return
	}
	g.GiveDirective(wire.ForEver, stageName+g.env.Name, &control.Directive{
		Reason: shortened(fmt.Sprintf("%s: %s failed (%s)", g.watch.Stage(), g.env.Name, how)),
	})
}

// stageStatus describes the stages for operators.
func stageStatus(g *Gate) *control.Stage {
	if len(g.cfg.Stages.First) == 0 {
		return nil
	}
	s := &control.Stage{Name: g.watch.Stage(), Of: len(g.cfg.Stages.First) + 1, Empty: g.watch.Empty()}
	o := own(g, g.env.Clock.Now().Time)
	if s.Standing = o.Standing().String(); g.watch.Waits() {
		first, more := g.watch.Held()
		for i := range first {
			s.HeldBy = append(s.HeldBy, control.HeldBy{Name: first[i].Name, Why: first[i].Why})
		}
		s.More = more
	}
	return s
}
