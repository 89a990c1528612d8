package agent

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// tally counts what became of a gate's runs and tokens, for status and metrics. Only the loop uses it.
type tally struct {
	// results counts the runs that have ended, by their result; taken and given the tokens, by how they came and why they went.
	results, taken, given map[string]uint64
	// dueAt is from when this member has been due since its last run, meaningful if dueKnown.
	dueAt    policy.Time
	dueKnown bool
}

func newTally() tally {
	return tally{results: make(map[string]uint64), taken: make(map[string]uint64), given: make(map[string]uint64)}
}

func (t *tally) hand(e *policy.Effect) {
	by := t.given
	if e.Kind == policy.Took {
		by = t.taken
	}
	by[e.Cause.String()]++
}

// tallyBegin measures the wait before a run: of its caller, or of this member since it was due.
func (a *Agent) tallyBegin(g *gate, now policy.Time, c *caller) {
	switch {
	case c != nil:
		a.metrics.Waited(g.cfg.Name, time.Since(c.since))
	case g.tally.dueKnown:
		a.metrics.Waited(g.cfg.Name, max(now.Sub(g.tally.dueAt), 0))
	}
	g.tally.dueKnown = false
}

// Metrics answers with the metrics of the agent.
func (s source) Metrics() http.Handler { return s.a.metrics.Handler() }

func (a *Agent) tallyEnd(g *gate, r *hook.Result) {
	result := strings.ReplaceAll(string(cutOf(r)), " ", "_")
	switch {
	case result != "":
	case g.callers.served == nil && r.NotNow():
		result = "not_now"
	case r.Err != nil:
		result = "failed"
	default:
		result = "ok"
	}
	g.tally.results[result]++
	if !r.NotExecuted {
		a.metrics.Ran(g.cfg.Name, r.Took)
	}
}

// enter records that a run begins, beside the loop; command is that of a caller.
func (g *gate) enter(token *wire.Ref, command string) history.Run {
	entry := history.Run{Start: time.Now().Round(0), Seq: uint64(token.Seq), Command: command}
	g.history.Put(&entry)
	return entry
}

func (g *gate) complete(entry history.Run, r *hook.Result) {
	entry.End, entry.Exit = entry.Start.Add(r.Took), r.Exit
	if r.Err != nil && (entry.Command != "" || !r.NotNow()) {
		entry.Error, entry.Output = r.Err.Error(), r.Tail
	}
	entry.Cut = cutOf(r)
	g.history.Put(&entry)
}

func cutOf(r *hook.Result) history.Cut {
	switch {
	case r.NotExecuted:
		return history.CutNotStarted
	case r.TimedOut:
		return history.CutTimeout
	case r.Expired:
		return history.CutExpired
	case r.Stopped:
		return history.CutStopped
	}
	return ""
}

func (a *Agent) endHistories() {
	var all sync.WaitGroup
	for _, g := range a.gates {
		all.Go(g.endHistory)
	}
	all.Wait()
}

// History lists the last runs of all gates on this host.
func (s source) History(context.Context) (control.History, error) {
	var h control.History
	for _, g := range *s.a.listed.Load() {
		h.Gates = append(h.Gates, control.GateHistory{Name: g.cfg.Name, Runs: g.history.Runs()})
	}
	return h, nil
}
