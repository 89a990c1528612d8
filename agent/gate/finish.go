package gate

import (
	"errors"
	"os"
	"time"

	"github.com/wanderd/wanderd/agent/aftercare"
	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/holds"
)

// finished is how a hook or a command has ended.
type finished struct {
	result hook.Result
	// entry is the run in the history; nil if it has not begun.
	entry *history.Run
	// denied is true if it was too late to start; hostStops is true if the shutdown of this host has cut it short;
	// goesDown is true if the host goes down, and its grant is kept meanwhile; cut is true if a stop has cut short what
	// followed the operation; unhealthy is true if the host was not healthy after it.
	denied, hostStops, goesDown, cut, unhealthy bool
	// putOff is why the run does not hold all its gates; nil if it does.
	putOff error
}

// onRunEnded ends the operation of a run. The run itself is over when what follows it is.
func (g *Gate) onRunEnded(f finished) {
	defer g.contain()
	l, r := g.run, &f.result
	switch {
	case f.goesDown:
		g.kept.goDown(r)
		return
	case f.denied:
		f.wasDenied(g)
		return
	}
	if !l.isHook {
		g.callers.served.commandEnded(g, r)
	}
	if !f.isFollowed(g, l) {
		f.isOver(g)
		return
	}
	g.log.Info().Dur("took", r.Took.Round(time.Millisecond)).Dur("soak", g.cfg.Aftercare.Soak).
		Msg("the operation has succeeded; the grant stays here until this host was looked after")
	l.lookAfter(g, f)
}

// wasDenied ends a grant under which nothing was started.
func (f *finished) wasDenied(g *Gate) {
	l, r := g.run, &f.result
	l.others.Release(*r)
	g.run, g.lastUse = nil, time.Now()
	if why := f.putOff; why != nil && !errors.Is(why, holds.ErrStopped) {
		g.deferral.Begin(g.env.Clock.Now().Time, why, l.others.Waited(), g.cfg.WithWait, entropy{})
		g.log.Info().AnErr("because", why).Msg("the run is put off, and the token goes on")
	}
	g.event.Kind, g.event.Void, g.event.Denied, g.event.SoakGoesOn = policy.Finished, r.NotExecuted, true, false
	g.event.Outcome, g.event.ByHand = policy.Succeeded, false
	*g.granted(l.isHook)--
	if r.Err == nil {
		g.callers.again()
	}
	g.callers.end(*r)
	g.observeEnd(&hook.Result{Err: errors.New("it was too late for its start")})
	g.step()
	g.leaveAfterRun()
}

// commandEnded records how a caller's command has ended, and tells the caller: it does not wait for what follows.
func (c *Caller) commandEnded(g *Gate, r *hook.Result) {
	g.tallyEnd(r, false)
	if c != nil {
		g.tally.lastCommand = &control.CommandEnd{
			Command: c.Command, Began: c.running, Took: control.Duration(r.Took), Exit: commandText(r),
		}
		g.log.Info().Str("command", c.Command).Int("pid", c.PID).AnErr("end", r.Err).
			Dur("took", r.Took.Round(time.Millisecond)).Msg("command ended")
	}
	g.callers.end(*r)
}

// isOver ends a run: its operation is over, and so is what followed.
func (f *finished) isOver(g *Gate) {
	l, r := g.run, &f.result
	f.endsStage(g, l)
	l.others.Release(*r)
	g.run, g.lastUse = nil, time.Now()
	g.event.Kind, g.event.Denied = policy.Finished, false
	g.event.SoakGoesOn = f.cut || l.isHeld && g.exit.left
	g.event.Void = r.TimedOut || r.Expired || r.NotExecuted || f.cut || l.resumed
	g.event.Outcome, g.event.ByHand = policy.Succeeded, false
	switch {
	case l.isHook:
		g.tallyEnd(r, true)
		g.tally.last = r
		g.asking.Used()
		g.onHookEnded(r)
		g.event.ByHand = g.callers.served != nil && l.demanded
		g.callers.end(*r)
	case f.unhealthy:
		// The command is its caller's business, and the host is the gate's.
		g.event.Outcome, g.event.Exit, g.event.ByHand = policy.Failed, exitOf(r), l.demanded
	}
	g.warnTooShort()
	if !l.resumed {
		g.observeEnd(r)
	}
	if g.exit.left && r.Stopped && !l.resumed {
		g.onRunCut(f.hostStops)
	}
	g.step()
	if l.isHook {
		g.sayHookEnded(r)
	}
	g.leaveAfterRun()
}

// isFollowed reports whether something follows an operation that has ended: only if it has succeeded, and nothing
// stops.
func (f *finished) isFollowed(g *Gate, l *launch) bool {
	return g.cfg.Aftercare.Follows() && f.result.Err == nil && !f.denied && !l.isStopped() && !g.exit.left
}

// lookAfter looks after this host once the operation has succeeded: see package aftercare. For the machine the
// operation still runs, so all rules for a run hold: its token stays here, and is renewed and guarded. No guard beside
// this agent hands it on: if the agent dies, the others wait as if it had died at rest with the token.
func (l *launch) lookAfter(g *Gate, f finished) {
	l.care, l.isLock = aftercare.New(g.cfg.Aftercare), false
	g.kept.recordsOver()
	l.soaks(g)
	spec := hook.Spec{
		Argv: g.cfg.Aftercare.After, Env: hook.Environ(os.Environ(), g.environment()...), For: "after",
		Limits: hook.Limits{Timeout: aftercare.CallTimeout, Grace: aftercare.Grace},
		Log:    hookLog{g.log.With().Bool("after", true).Logger()},
	}
	said := func(answer string) { g.log.Info().Str("answer", answer).Msg("asked whether this host is healthy") }
	go func() {
		v := l.care.Take(l.halt, func() hook.Result { return l.call(g, spec) }, said)
		// A host that goes down ends the call, too, and that says nothing about its health.
		f.goesDown = v.Err != nil && g.env.GoesDown()
		f.cut, f.unhealthy = v.Cut || f.goesDown, v.Err != nil && !f.goesDown
		if f.unhealthy {
			f.result.Err, f.result.Exit, f.result.Code, f.result.Tail = v.Err, v.Exit, v.Exit, v.Output
			l.entry.Error, l.entry.Output = v.Err.Error(), v.Output
			g.history.Put(&l.entry)
			emitUnhealthy(g, &l.entry, v.Exit)
		}
		g.env.Ended <- func() { f.isCared(g) }
	}()
}

// soaks tells the machines of all gates that a run holds that this host soaks.
func (l *launch) soaks(g *Gate) {
	takes := g.cfg.Aftercare.Soak
	if takes == 0 {
		return
	}
	Soaks(g, takes)
	for _, name := range l.others.Names() {
		g.env.Soaks(name, g.cfg.Name, takes)
	}
}

// Soaks tells the machine of a gate that this host soaks after a run that holds the gate.
func Soaks(g *Gate, takes time.Duration) {
	g.event.Kind, g.event.Soak = policy.Soaks, takes
	g.step()
}

// call runs the program that says whether this host is healthy, beside the loop.
func (l *launch) call(g *Gate, spec hook.Spec) hook.Result {
	run, err := g.env.Start(spec)
	if err != nil {
		return notExecuted(err)
	}
	select {
	case r := <-run.Done():
		return r
	case <-l.halt:
		run.Stop()
		return <-run.Done()
	}
}

// isCared ends a run that has succeeded, and says whether this host is healthy.
func (f *finished) isCared(g *Gate) {
	defer g.contain()
	switch {
	case g.exit.gone:
		return // The host goes down with its grant, or the next life of this agent goes on.
	case f.goesDown && g.kept.holds():
		g.kept.goesWith()
		return
	case f.unhealthy:
		g.log.Error().Err(f.result.Err).Msg("this host is not healthy: the run counts as failed, and the grant goes on")
	case f.cut:
		g.log.Warn().Msg("stopped: the grant goes on, and nobody starts before the soak of this host is over")
	default:
		g.log.Info().Msg("this host was looked after; the grant goes on")
	}
	f.isOver(g)
}

// cut is the cause that has cut the last run of a gate short.
type cut uint8

const (
	uncut cut = iota
	// byStop: the agent was stopped. The run counts as not having happened, within this boot.
	byStop
	// byShutdown: the host was shut down. The run counts.
	byShutdown
)

// onRunCut records that a stop has cut a run short, instead of recording how the run ended: otherwise the run would
// have failed, and the hook would be due after retry_after.
func (g *Gate) onRunCut(hostStops bool) {
	if g.saver.cut = byStop; hostStops {
		g.saver.cut = byShutdown
		g.log.Warn().Msg("the shutdown of this host has cut the run short: " +
			"it counts as a run, and this host is due min_interval after its start")
	} else {
		g.log.Info().Msg("the stop has cut the run short: " +
			"this host is due again when the agent starts, unless the host reboots before")
	}
	g.wantSaved(&g.state)
}

// undoCut restores the record as it was before a run that a stop has cut short, if this is still the boot of that stop.
func (g *Gate) undoCut(now *clock.Boot, r *statedir.Record) {
	if !r.Cut {
		return
	}
	if now.ID == "" || now.ID != r.Boot {
		g.log.Warn().Time("last_run", r.LastRun).
			Msg("a stop has cut the last run short, and this host has rebooted since: " +
				"it counts as a run, lest a hook that reboots its host does so for ever")
	} else {
		r.HasRun = !r.Before.LastRun.IsZero()
		r.LastRun, r.SinceBoot, r.Memo = r.Before.LastRun, r.Before.SinceBoot, r.Before.Memo
	}
	r.Cut, r.Before = false, statedir.Before{}
}
