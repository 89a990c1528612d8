package gate

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/aftercare"
	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/together"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/holds"
	"github.com/wanderd/wanderd/wire"
)

// HookRun is a running hook; see [hook.Run]. Its methods may be called from any goroutine.
type HookRun interface {
	Stop()
	Extend(until time.Duration)
	PreSigned(words []hook.Word)
	Done() <-chan hook.Result
}

// launch is a hook from its grant to its end. Starting a process can take long on a busy host, so it happens beside the
// loop. A hook that is stopped before its start does not start.
type launch struct {
	token wire.Ref
	// demanded is as in the grant. isHook is true if the gate's own operation runs, and not a caller's command; isLock,
	// if nothing runs, and a client holds the grant.
	demanded, isHook, isLock bool

	// outside is who has ordered it whatever the windows say; empty if nobody has.
	outside string
	// entry is its line in the history. care is what follows it; nil until then. resumed is true if it began in an
	// earlier life of this agent.
	entry   history.Run
	care    *aftercare.Care
	resumed bool
	// barred is true if too many members are down, or one of an earlier stage is due: then it is not started.
	barred bool
	// others are the gates that it holds, too; nil if it needs none. isHeld is true if nothing runs, and the gate is
	// held for a run of another one.
	others *together.Holds
	isHeld bool
	// until is the end of its grant; zero if that has none. Only the loop uses it.
	until policy.Time
	// halt is closed when it is stopped; nil in a ready check.
	halt chan struct{}

	mu      sync.Mutex
	run     HookRun
	stopped bool
	// ended is true once the operation is over; beyond is until when its grant is kept beyond that, and left is true if
	// that goes on in the next life of this agent.
	ended, left bool
	beyond      time.Time
	// before are the instructions that the hook gets as soon as it has started.
	before []func(HookRun)
}

// Stop stops the hook, or prevents its start.
func (l *launch) Stop() {
	l.mu.Lock()
	if l.halt != nil && !l.stopped {
		close(l.halt)
	}
	l.stopped = true
	l.mu.Unlock()
	l.tell(HookRun.Stop)
}

// withdraw is Stop for a caller that has gone, as it also does when its command has ended: then the host may still be
// about to go down.
func (l *launch) withdraw() {
	l.mu.Lock()
	started := l.run != nil
	l.mu.Unlock()
	if started {
		l.tell(HookRun.Stop)
	} else {
		l.Stop()
	}
}

// tell gives the hook an instruction, now or as soon as it has started.
func (l *launch) tell(say func(HookRun)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.run == nil {
		l.before = append(l.before, say)
		return
	}
	say(l.run)
}

func (l *launch) isStopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopped
}

func (l *launch) started(run HookRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run = run
	for _, say := range l.before {
		say(run)
	}
}

// startRun starts the protected operation under a grant: the command of the first caller, or the hook.
func (g *Gate) startRun(now policy.Instant, e *policy.Effect) {
	l := &launch{token: e.Token, demanded: e.Demanded, until: e.Until, halt: make(chan struct{})}
	g.run = l
	g.preSigned.begin()
	startBy := time.Now().Add(e.StartBy.Sub(now.Time))
	g.callers.told = false // the run has met the demand
	c := g.callers.beginOwn(e.Demanded, mayRun(g, now.Time))
	toCaller := c == nil && (g.cfg.OnDemand() || e.Demanded)
	if toCaller {
		c = g.callers.begin()
	}
	l.isHook, l.isLock = !toCaller, c != nil && c.client != ""
	if c != nil {
		l.outside, l.isHeld = c.outside, c.For != ""
	}
	cannot := l.needOthers(g, c)
	spec := g.grant(now.Time, l)
	g.kept.begin(c)
	g.down.look(g)
	l.barred = g.down.why(g) != "" || l.isHook && waitsForStage(g)
	*g.granted(l.isHook)++
	g.tallyBegin(now.Time, c)
	go func() {
		end, ends := l.takeOthers(g, cannot, &spec, &startBy)
		switch {
		case ends:
		case toCaller:
			end = g.serve(l, c, spec, startBy)
		default:
			end = g.follow(l, spec, startBy)
		}
		end.hostStops = end.result.Stopped && g.env.HostStops()
		end.goesDown = end.goesDown || g.kept.goesDown(l, &end)
		if end.entry != nil && !end.goesDown && !l.isHeld {
			emitRun(g, events.Ended, end.entry, &l.token)
		}
		g.env.Ended <- func() { g.onRunEnded(end) }
	}()
}

// isOver lets nothing more be told to an operation that has ended, or that began in an earlier life.
func (l *launch) isOver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run, l.before, l.ended = noRun{}, nil, true
}

// noRun is an operation that is over.
type noRun struct{}

var _ HookRun = noRun{}

func (noRun) Stop()                    {}
func (noRun) Extend(time.Duration)     {}
func (noRun) PreSigned([]hook.Word)    {}
func (noRun) Done() <-chan hook.Result { return nil }

// follow runs a hook to its end.
func (g *Gate) follow(l *launch, spec hook.Spec, startBy time.Time) finished {
	if end, ends := l.endsEarly(startBy); ends {
		return end
	}
	withToken(g.log.Info(), g, &l.token).Msg("hook starts")
	l.entry = g.enter(l, "")
	run, err := g.env.Start(spec)
	return l.toItsEnd(g, run, err)
}

// serve runs a caller's command to its end.
func (g *Gate) serve(l *launch, c *Caller, spec hook.Spec, startBy time.Time) finished {
	if end, ends := l.endsEarly(startBy); ends {
		if end.result.Stopped {
			end.result.Err = errLate() // the caller may ask again
		}
		return end
	}
	if c == nil {
		return finished{result: notExecuted(errors.New("nobody waits any more"))}
	}
	withToken(g.log.Info(), g, &l.token).Str("command", c.Command).Int("pid", c.PID).Msg("command starts")
	spec.Argv = []string{c.Command}
	run, err := c.start(spec, startBy)
	if errors.Is(err, hook.ErrLate) {
		return finished{denied: true, result: notExecuted(errLate())}
	}
	l.entry = g.enter(l, c.Command)
	return l.toItsEnd(g, run, err)
}

// endsEarly reports whether an operation is not started at all: after startBy the token may have another holder.
func (l *launch) endsEarly(startBy time.Time) (finished, bool) {
	switch {
	case l.barred || time.Now().After(startBy):
		return finished{denied: true}, true
	case l.isStopped():
		return finished{result: stoppedBefore()}, true
	}
	return finished{}, false
}

func (l *launch) toItsEnd(g *Gate, run HookRun, err error) finished {
	if err == nil && l.others != nil {
		run = l.others.Started(run)
	}
	result := l.await(run, err)
	l.isOver()
	l.others.Ended()
	if errors.Is(result.Err, errLeftBehind) {
		return finished{result: result, goesDown: true}
	}
	g.complete(&l.entry, &result)
	return finished{result: result, entry: &l.entry}
}

// await waits for the end of the run, if it was started.
func (l *launch) await(run HookRun, err error) hook.Result {
	if err != nil {
		return notExecuted(err)
	}
	l.started(run)
	return <-run.Done()
}

func notExecuted(why error) hook.Result { return hook.Result{Exit: -1, NotExecuted: true, Err: why} }

func stoppedBefore() hook.Result {
	return hook.Result{Exit: -1, NotExecuted: true, Stopped: true, Err: errors.New("it was stopped before its start")}
}

// grant returns the specification of an operation under a grant: its limits and, as its environment, what it is told of
// the grant. A caller brings the program itself.
func (g *Gate) grant(now policy.Time, l *launch) hook.Spec {
	token, limits := &l.token, hook.Limits{
		Timeout: g.timeout(now), Grace: cmp.Or(g.cfg.KillAfter, graceOf(now, l.until)),
		OrphanGrace: g.cfg.Protocol.OrphanGrace(), Until: g.env.Clock.SinceBoot(l.until),
	}
	env := append(g.environment(),
		"WANDERD_HELD=1",
		"WANDERD_SEQ="+strconv.FormatUint(uint64(token.Seq), 10),
		"WANDERD_SLOT="+strconv.Itoa(int(token.Slot)),
		"WANDERD_TOKEN="+token.ID.String(),
	)
	if l.others != nil {
		limits = l.others.Limit(limits)
		env = append(env, "WANDERD_WITH="+strings.Join(l.others.Names(), " "))
	}
	if limits.Timeout > 0 {
		env = append(env, "WANDERD_DEADLINE="+strconv.FormatInt(time.Now().Add(limits.Timeout).Unix(), 10))
	}
	spec := hook.Spec{Log: hookLog{g.log}, Env: env, Limits: limits}
	if l.isHook {
		env = append(env, "WANDERD_SOCKET="+g.env.Socket) // A caller knows how it has found this agent.
		spec.Argv, spec.Env = g.cfg.Hook, hook.Environ(os.Environ(), env...)
	}
	return spec
}

// needOthers finds out which gates a run needs besides this one. It returns an error if this host does not have them.
func (l *launch) needOthers(g *Gate, c *Caller) (err error) {
	if l.isHeld || g.env.Others == nil {
		return nil
	}
	var named []string
	if c != nil {
		named = c.With
	}
	l.others, err = g.env.Others(g, named, l.Stop)
	return err
}

// takeOthers takes, beside the loop, the other gates that a run needs. It reports whether the run ends before it has
// begun. "A run starts only when it holds all its gates": the loop looks once more, and then as much time as a save may
// take is left for the start. A run that cannot start is put off, and the token goes on.
func (l *launch) takeOthers(g *Gate, cannot error, spec *hook.Spec, startBy *time.Time) (end finished, ends bool) {
	if cannot == nil && l.others == nil {
		return finished{}, false
	}
	if cannot == nil {
		cannot = l.others.Take(l.halt)
	}
	if cannot == nil {
		all := make(chan error, 1)
		g.env.Ended <- func() { all <- l.holdsAll(g, spec, startBy) }
		select {
		case cannot = <-all:
		case <-l.halt:
			cannot = holds.ErrStopped
		}
	}
	return finished{denied: cannot != nil, putOff: cannot}, cannot != nil
}

// holdsAll looks, on the loop, whether a run holds all its gates, and may still start. If so, it returns its grant as
// of now.
func (l *launch) holdsAll(g *Gate, spec *hook.Spec, startBy *time.Time) error {
	for _, name := range l.others.Names() {
		if err := g.env.Held(name, g.cfg.Name); err != nil {
			return err
		}
	}
	if !l.holds(g) {
		return holds.ErrStopped
	}
	if err := l.isForbidden(g); err != nil {
		return err
	}
	*spec, *startBy = g.grant(g.env.Clock.Now().Time, l), time.Now().Add(g.SaveWithin())
	return nil
}

// holds reports whether a run goes on here, and under the token that was granted to it.
func (l *launch) holds(g *Gate) bool {
	if g.run != l || l.isStopped() {
		return false
	}
	now := g.env.Clock.Now().Time
	s := g.machine.Status(now)
	if several, ok := g.machine.Machine.(policy.Slotted); ok {
		s = several.SlotStatus(int(l.token.Slot), now)
	}
	return s.Holding && s.Token.ID == l.token.ID
}

// isForbidden returns why a run may not start any more that was granted a while ago, and has waited for other gates
// since then: whatever forbids a grant forbids the start.
func (l *launch) isForbidden(g *Gate) error {
	g.down.look(g)
	if l.isHook && g.watch.Waits() {
		g.watch.Look(membersOf(g), time.Now())
	}
	switch closed := policy.Find(g.machine.Facts(g.env.Clock.Now().Time, nil), policy.KeyWindowOpens) != nil; {
	case g.machine.Paused():
		return fmt.Errorf("gate %q was paused meanwhile", g.cfg.Name)
	case closed && l.outside == "":
		return fmt.Errorf("the window of gate %q has closed meanwhile", g.cfg.Name)
	case g.down.why(g) != "":
		return errors.New(g.down.why(g))
	case l.isHook && g.watch.WaitsFor() != "":
		return errors.New(g.watch.WaitsFor())
	}
	return nil
}

// IsHeldFor reports whether a gate is held for a run of another one.
func IsHeldFor(g *Gate, other string) bool {
	c := g.callers.served
	return c != nil && c.For == other && g.run != nil && g.run.holds(g)
}

// MayServe returns why a gate that is held for a run of another one does not let that start; nil if it does.
func MayServe(g *Gate) error { return g.run.isForbidden(g) }

// environment returns what an operation is told of its gate and its host.
func (g *Gate) environment() []string {
	return []string{
		"WANDERD_GATE=" + g.cfg.Name,
		"WANDERD_MEMBER=" + g.env.Self.String(),
		"WANDERD_NAME=" + g.env.Name,
		"WANDERD_MEMBERS=" + strconv.Itoa(g.members),
	}
}

// graceOf returns how long a hook has from SIGTERM to SIGKILL. If the grant has an end, that is a quarter of the grant
// at most: the default may be longer than the whole grant, and the guard would not execute the hook at all.
func graceOf(now, until policy.Time) time.Duration {
	if until == 0 {
		return hook.DefaultGrace
	}
	return min(hook.DefaultGrace, until.Sub(now)/4)
}

// timeout returns how long a run that begins now may take; zero sets no limit.
func (g *Gate) timeout(now policy.Time) time.Duration {
	limit := g.cfg.HookTimeout
	if !g.cfg.WindowHard {
		return limit
	}
	closes := policy.Find(g.machine.Facts(now, nil), policy.KeyWindowCloses)
	if closes == nil || closes.At == policy.Never {
		return limit
	}
	if left := max(closes.At.Sub(now), time.Millisecond); limit == 0 || left < limit {
		limit = left
	}
	return limit
}

// hookLog writes the output of a hook, and warnings about it, to the agent's log. Package hook does not import a
// logger: it also starts a hook's guard, and each import makes that start slower.
type hookLog struct{ log zerolog.Logger }

var _ hook.Log = hookLog{}

// Line implements [hook.Log]: what a hook writes to stderr is a warning.
func (l hookLog) Line(stream, text string) {
	level := zerolog.InfoLevel
	if stream == "stderr" {
		level = zerolog.WarnLevel
	}
	l.log.WithLevel(level).Str("stream", stream).Msg(text)
}

// Warn implements [hook.Log].
func (l hookLog) Warn(text string, facts ...any) { l.log.Warn().Fields(facts).Msg(text) }
