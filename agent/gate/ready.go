package gate

import (
	"maps"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ready"
)

// The question whether a gate's hook is needed here is asked without the token, so that no token waits for the answer:
// see package ready. It is a process of its own with a guard, as the hook is: nothing is left of it when its time is
// over, or this process has died.

// readyGrace is how long a question may take from SIGTERM to SIGKILL.
const readyGrace = time.Second

// asking is the question of one gate. Only the loop uses it.
type asking struct {
	ready.Question
	// run is its process, and begun when that began; nil if there is none.
	run   *launch
	begun time.Time
	// said is the last answer, at and why: when it came, and what was wrong. answers counts them.
	said control.Answer
	at   time.Time
	why  string
	// yesSince is when the first of the last row of answers came that were all yes; zero if the last one was another.
	yesSince time.Time
	answers  map[string]uint64
}

// noAnswers counts each answer from zero: an alert sees a count rise only if it was there before.
func noAnswers() map[string]uint64 {
	return map[string]uint64{string(control.AnswerYes): 0, string(control.AnswerNo): 0, string(control.AnswerError): 0}
}

// asks reports whether this host is asked at all.
func (g *Config) asks() bool { return len(g.Ready) > 0 && !g.OnDemand() }

// isReady reports whether the hook may run as far as this host's answer goes.
func (g *Gate) isReady(now policy.Time) bool { return !g.cfg.asks() || g.asking.Ready(now) }

// askAt is when this host has to be asked next.
func (g *Gate) askAt(now policy.Time) policy.Time {
	if !g.cfg.asks() || g.run != nil || g.exit.leaving {
		return policy.Never
	}
	due := policy.Never
	if m, ok := g.machine.Machine.(policy.Askable); ok {
		due = m.DueAt(now)
	}
	if g.callers.ownPlace() >= 0 && !g.machine.Paused() {
		due = now
	}
	g.asking.Timeout, g.asking.Again = g.cfg.ReadyTimeout, g.cfg.ReadyAgain
	return g.asking.AskAt(due)
}

// tellReady tells the machine whether this host is ready. It comes before each step, so no machine goes by a yes that
// is too old.
func (g *Gate) tellReady(now policy.Time) {
	if m, ok := g.machine.Machine.(policy.Askable); ok {
		m.SetReady(g.isReady(now))
	}
}

// considerAsking asks this host if it is time.
func (g *Gate) considerAsking() {
	if now := g.env.Clock.Now().Time; g.askAt(now) > now {
		return
	}
	q := &g.asking
	q.Ask()
	q.run, q.begun = &launch{}, time.Now()
	run, spec := q.run, hook.Spec{
		Argv: g.cfg.Ready, Env: hook.Environ(os.Environ(), g.environment()...), Question: true,
		Limits: hook.Limits{Timeout: g.cfg.ReadyTimeout, Grace: readyGrace},
		Log:    hookLog{g.log.With().Bool("ready", true).Logger()},
	}
	go func() {
		result := stoppedBefore()
		if !run.isStopped() {
			result = run.await(g.env.Start(spec))
		}
		g.env.Ended <- func() { g.onAnswered(&result) }
	}()
}

// unask ends a question whose answer nobody wants any more, and what was answered before.
func (q *asking) unask() {
	q.Used()
	if q.run != nil {
		q.run.Stop()
	}
}

func (g *Gate) onAnswered(r *hook.Result) {
	q := &g.asking
	said := answerIn(r)
	q.run = nil
	if q.Answer(g.env.Clock.Now().Time, said == control.AnswerYes) {
		g.hear(said, r)
	}
	g.tellDue()
	g.event.Kind = policy.Woke
	g.step()
}

// answerIn is what a question's process says: 0 is yes, 75 is no, and all else an error.
func answerIn(r *hook.Result) control.Answer {
	return map[policy.Outcome]control.Answer{
		policy.Succeeded: control.AnswerYes, policy.NotNow: control.AnswerNo, policy.Failed: control.AnswerError,
	}[outcomeOf(r)]
}

// hear counts an answer, logs it if it is news, and tells it to those who wait for a run of the hook.
func (g *Gate) hear(said control.Answer, r *hook.Result) {
	q := &g.asking
	news := said != q.said
	q.said, q.at, q.why = said, time.Now(), ""
	switch {
	case said != control.AnswerYes:
		q.yesSince = time.Time{}
	case q.yesSince.IsZero():
		q.yesSince = q.at
	}
	q.answers[string(said)]++
	level := zerolog.DebugLevel
	if news {
		level = zerolog.InfoLevel
	}
	switch said {
	case control.AnswerYes:
		g.log.WithLevel(level).Msg("ready: the hook is needed")
		return
	case control.AnswerNo:
		g.log.WithLevel(level).Dur("ask_again", g.cfg.ReadyAgain).Msg("ready said 75: the hook is not needed now")
		g.refuseOwn(&UnreadyError{Text: saidNo, Exit: r.Status()})
		return
	case control.AnswerError:
	}
	q.why = strings.Join(append([]string{r.Err.Error()}, lastOf(r.Tail)...), ": ")
	g.log.Error().Err(r.Err).Dur("ask_again", g.cfg.ReadyAgain).Msg("ready has failed, so the hook does not run")
	g.refuseOwn(&UnreadyError{Text: hasFailed + q.why, Exit: r.Status()})
}

// What a host has said, in words.
const (
	saidNo    = "ready said 75: not needed now"
	hasFailed = "ready has failed: "
)

// UnreadyError is why a hook does not run that somebody waits for.
type UnreadyError struct {
	Text string
	// Exit is the status of the question.
	Exit uint8
}

func (e *UnreadyError) Error() string { return e.Text }

// lastOf is the last of some lines, if there is one.
func lastOf(lines []string) []string { return lines[max(len(lines)-1, 0):] }

// refuseOwn tells those who wait for a run of the hook that it does not run.
func (g *Gate) refuseOwn(why error) {
	if at := g.callers.ownPlace(); at >= 0 {
		g.callers.take(at).refuse(why)
	}
}

// readyStatus says what is known of the question.
func (g *Gate) readyStatus(now policy.Time) *control.Ready {
	if !g.cfg.asks() {
		return nil
	}
	q := &g.asking
	s := &control.Ready{Answer: q.said, At: q.at, Error: q.why, Counts: q.Ready(now), Answers: maps.Clone(q.answers)}
	if q.Asking() {
		s.AskingSince = q.begun
	} else if next := g.askAt(now); next < policy.Never {
		s.Next = g.env.Clock.At(max(next, now))
	}
	return s
}
