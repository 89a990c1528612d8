package gate

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Observation is one event at an agent: it took or gave a token, a hook was granted a run or has ended, or a gate's
// machine wrote a note.
type Observation struct {
	At     time.Time
	Member wire.MemberID
	Name   string
	Gate   string
	// Note is the machine's note; zero for other events.
	Note policy.Note
	// Cause is why Token came if Came is true, and otherwise why it went; zero for other events.
	Cause policy.Cause
	Came  bool
	Peer  wire.MemberID
	Token wire.Ref
	// Granted is true when the hook may start under Token. An observation with Ended follows.
	Granted bool
	// Ended is true when the hook has ended: Took is how long it ran, Err why it failed (nil if it succeeded), and
	// Stopped is true if it was stopped early.
	Ended, Stopped bool
	Took           time.Duration
	Err            error
}

// observe passes a machine's effect to the observer.
func (g *Gate) observe(now policy.Instant, e *policy.Effect) {
	g.show(Observation{
		At: time.Unix(0, now.Wall), Note: e.Note, Cause: e.Cause, Peer: e.Peer, Token: e.Token,
		Came: e.Kind == policy.Took, Granted: e.Kind == policy.Run,
	})
}

// observeEnd passes the end of a run to the observer.
func (g *Gate) observeEnd(r *hook.Result) {
	g.show(Observation{At: time.Now(), Ended: true, Stopped: r.Stopped, Took: r.Took, Err: r.Err})
}

func (g *Gate) show(o Observation) {
	if g.env.Observe != nil {
		o.Member, o.Name, o.Gate = g.env.Self, g.env.Name, g.cfg.Name
		g.env.Observe(o)
	}
}

// emit tells people of an event of this gate. The gate and these words and numbers identify it, and its kind, unless it
// is a directive. It may be called from any goroutine.
func emit(g *Gate, e events.Event, identity ...any) {
	if g.env.Emit == nil {
		return
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	e.Host, e.Gate = g.env.Name, g.cfg.Name
	if e.ID = string(e.Kind); e.Kind == events.Paused || e.Kind == events.Braked || e.Kind == events.Resumed {
		e.ID = "directive"
	}
	for _, part := range append([]any{g.cfg.Name}, identity...) {
		e.ID += "/" + fmt.Sprint(part)
	}
	g.env.Emit(e)
}

// emitRun tells people that a run has started, or how it has ended. token may be nil.
func emitRun(g *Gate, kind events.Kind, run *history.Run, token *wire.Ref) {
	e := events.Event{Kind: kind, Seq: run.Seq, Command: run.Command}
	if token != nil {
		e.Token = token.ID.String()
	}
	if kind != events.Started {
		if e.Kind = events.Ended; run.Failed() {
			e.Kind = events.Failed
			if e.Error = run.Error; e.Error == "" {
				e.Error = string(run.Cut)
			}
		}
		e.Exit, e.Took = &run.Exit, run.Took().Seconds()
	}
	emit(g, e, run.Seq, g.env.Self.Short(), run.Start.UnixMilli())
}

// emitUnhealthy tells people that this host is not healthy after its run.
func emitUnhealthy(g *Gate, run *history.Run, exit int) {
	e := events.Event{Kind: events.SoakFailed, Seq: run.Seq, Command: run.Command, Exit: &exit, Error: run.Error}
	emit(g, e, run.Seq, g.env.Self.Short())
}

// emitInterrupted tells people of the run whose end the last life of this agent did not see.
func emitInterrupted(g *Gate) {
	if run := g.history.Interrupted(); run != nil {
		emitRun(g, events.Failed, run, nil)
	}
}

// emitNote tells people of a note that concerns them. That a majority is missing is told once until this member has a
// token again.
func emitNote(g *Gate, now policy.Instant, e *policy.Effect, info *policy.NoteInfo) {
	kind, ok := events.OfNote(info.Name)
	if !ok {
		return
	}
	event := events.Event{Kind: kind, Reason: info.Text, Seq: uint64(e.Token.Seq)}
	if kind != events.NoMajority {
		if event.Token = e.Token.ID.String(); !e.Peer.IsZero() {
			event.Peer = g.nameOf(e.Peer)
		}
		emit(g, event, e.Token.ID, uint64(e.Token.Seq))
		return
	}
	missing := policy.Find(g.machine.Facts(now.Time, nil), policy.KeyMissing)
	if missing == nil || g.logged.noMajority {
		return
	}
	g.logged.noMajority, event.Reason = true, missing.Text
	emit(g, event, g.env.Self.Short(), now.Wall)
}
