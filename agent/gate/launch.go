package gate

import (
	"cmp"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/aftercare"
	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
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
	// halt is closed when it is stopped; nil in a ready check.
	halt chan struct{}

	mu      sync.Mutex
	run     HookRun
	stopped bool
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
	l, spec := &launch{token: e.Token, demanded: e.Demanded, halt: make(chan struct{})}, g.grant(now, e)
	g.run = l
	g.preSigned.begin()
	startBy := time.Now().Add(e.StartBy.Sub(now.Time))
	g.callers.told = false // the run has met the demand
	run := func() finished { return g.follow(l, spec, startBy) }
	c := g.callers.beginOwn(e.Demanded, mayRun(g, now.Time))
	toCaller := c == nil && (g.cfg.OnDemand() || e.Demanded)
	if toCaller {
		c = g.callers.begin()
		run = func() finished { return g.serve(l, c, spec, startBy) }
	} else {
		spec.Argv, spec.Env = g.cfg.Hook, hook.Environ(os.Environ(), spec.Env...)
	}
	l.isHook, l.isLock = !toCaller, c != nil && c.client != ""
	if c != nil {
		l.outside = c.outside
	}
	g.kept.begin(c)
	g.down.look(g)
	l.barred = g.down.why(g) != "" || l.isHook && waitsForStage(g)
	*g.granted(l.isHook)++
	g.tallyBegin(now.Time, c)
	go func() {
		end := run()
		end.hostStops = end.result.Stopped && g.env.HostStops()
		end.goesDown = end.goesDown || g.kept.goesDown(l, &end)
		if end.entry != nil && !end.goesDown {
			emitRun(g, events.Ended, end.entry, &l.token)
		}
		g.env.Ended <- func() { g.onRunEnded(end) }
	}()
}

// isOver lets nothing more be told to an operation that has ended, or that began in an earlier life.
func (l *launch) isOver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run, l.before = noRun{}, nil
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
	result := l.await(run, err)
	l.isOver()
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
// the grant. The caller of grant adds the program.
func (g *Gate) grant(now policy.Instant, e *policy.Effect) hook.Spec {
	token, timeout := &e.Token, g.timeout(now.Time)
	env := append(g.environment(),
		"WANDERD_HELD=1",
		"WANDERD_SEQ="+strconv.FormatUint(uint64(token.Seq), 10),
		"WANDERD_SLOT="+strconv.Itoa(int(token.Slot)),
		"WANDERD_TOKEN="+token.ID.String(),
	)
	if timeout > 0 {
		env = append(env, "WANDERD_DEADLINE="+strconv.FormatInt(time.Now().Add(timeout).Unix(), 10))
	}
	return hook.Spec{
		Log: hookLog{g.log}, Env: env,
		Limits: hook.Limits{
			Timeout: timeout, Grace: cmp.Or(g.cfg.KillAfter, graceOf(now.Time, e.Until)),
			OrphanGrace: g.cfg.Protocol.OrphanGrace(), Until: g.env.Clock.SinceBoot(e.Until),
		},
	}
}

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
