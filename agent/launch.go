package agent

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// launch is a hook from its grant to its end. Starting a process can take long on a busy host, so it happens off the loop. A hook
// that is stopped before its start does not start.
type launch struct {
	token wire.Ref

	mu      sync.Mutex
	run     hookRun
	stopped bool
	// until is when it has to be gone, as time since boot; zero is never.
	until time.Duration
	// words are the messages for the guard; it gets them at the start.
	words []hook.Word
}

// Stop stops the hook, or prevents its start.
func (l *launch) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	if l.run != nil {
		l.run.Stop()
	}
}

// Extend moves the end of the grant.
func (l *launch) Extend(until time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
	if l.run != nil {
		l.run.Extend(until)
	}
}

// Entrust gives the hook's guard the messages to send if this process dies.
func (l *launch) Entrust(words []hook.Word) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.words = words
	if l.run != nil {
		l.run.Entrust(words)
	}
}

func (l *launch) isStopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopped
}

// started sets the running hook.
func (l *launch) started(run hookRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run = run
	if l.until != 0 {
		run.Extend(l.until)
	}
	run.Entrust(l.words)
	if l.stopped {
		run.Stop()
	}
}

var (
	errStoppedBefore = errors.New("it was stopped before its start")
	errTooLate       = errors.New("it was too late for its start")
)

// startHook starts the protected operation under a grant.
func (a *Agent) startHook(g *gate, now policy.Instant, e *policy.Effect) {
	g.runs++
	l, spec := &launch{token: e.Token, until: a.clock.sinceBoot(e.Until)}, a.hookSpec(g, now, e)
	g.run = l
	if g.cfg.onDemand() {
		spec.Argv = g.callers.begin()
	}
	g.entrusted.begin()
	startBy := time.Now().Add(e.StartBy.Sub(now.Time))
	go func() { a.finished <- a.follow(g, l, spec, startBy) }()
}

// follow runs a hook to its end. After startBy it does not start it: the token may have another holder by then.
func (a *Agent) follow(g *gate, l *launch, spec hook.Spec, startBy time.Time) finished {
	switch {
	case time.Now().After(startBy):
		return finished{gate: g, denied: true}
	case l.isStopped():
		return finished{gate: g, result: hook.Result{Exit: -1, NotExecuted: true, Stopped: true, Err: errStoppedBefore}}
	}
	g.withToken(g.log.Info(), &l.token).Msg("hook starts")
	run, err := a.deps.startHook(spec)
	if err != nil {
		return finished{gate: g, result: hook.Result{Exit: -1, NotExecuted: true, Err: err}}
	}
	l.started(run)
	return finished{gate: g, result: <-run.Done()}
}

func (a *Agent) hookSpec(g *gate, now policy.Instant, e *policy.Effect) hook.Spec {
	token := &e.Token
	return hook.Spec{
		Grace: graceOf(now.Time, e.Until),
		Argv:  g.cfg.Hook, Timeout: g.cfg.HookTimeout, Until: a.clock.sinceBoot(e.Until), OrphanGrace: g.cfg.Protocol.OrphanGrace(), Log: g.log,
		Env: hook.Environ(os.Environ(),
			"WANDERD_HELD=1",
			"WANDERD_GATE="+g.cfg.Name,
			"WANDERD_SEQ="+strconv.FormatUint(uint64(token.Seq), 10),
			"WANDERD_SLOT="+strconv.Itoa(int(token.Slot)),
			"WANDERD_TOKEN="+token.ID.String(),
			"WANDERD_MEMBER="+a.self.String(),
			"WANDERD_NAME="+a.cfg.Name,
			"WANDERD_MEMBERS="+strconv.Itoa(g.members),
			"WANDERD_DEADLINE="+strconv.FormatInt(time.Now().Add(g.cfg.HookTimeout).Unix(), 10)),
	}
}

// graceOf is how long a hook has from SIGTERM to SIGKILL. Of a grant with an end that is a quarter at most: the default may be longer than
// the whole grant, and the guard would not execute the hook at all.
func graceOf(now, until policy.Time) time.Duration {
	if until == 0 {
		return hook.DefaultGrace
	}
	return min(hook.DefaultGrace, until.Sub(now)/4)
}
