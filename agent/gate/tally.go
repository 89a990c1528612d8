package gate

import (
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
)

// tally counts what became of a gate's runs and tokens, for status and metrics. Only the loop uses it.
type tally struct {
	// results counts the runs of the hook that have ended, by their result, commands those of callers' commands; taken and given count the tokens, by
	// how they came and why they went.
	results, commands, taken, given map[string]uint64
	// dueAt is from when this member has been due since its last run, meaningful if dueKnown.
	dueAt    policy.Time
	dueKnown bool
}

func newTally() tally {
	return tally{results: make(map[string]uint64), commands: make(map[string]uint64), taken: make(map[string]uint64), given: make(map[string]uint64)}
}

func (t *tally) hand(e *policy.Effect) {
	by := t.given
	if e.Kind == policy.Took {
		by = t.taken
	}
	by[e.Cause.String()]++
}

// tallyBegin measures the wait before a run: of its caller, or of this member since it was due.
func (g *Gate) tallyBegin(now policy.Time, c *Caller) {
	switch {
	case c != nil && !c.own:
		g.env.Commands.Waited(g.cfg.Name, time.Since(c.since))
		return
	case c != nil:
		g.env.Runs.Waited(g.cfg.Name, time.Since(c.since))
	case g.tally.dueKnown:
		g.env.Runs.Waited(g.cfg.Name, max(now.Sub(g.tally.dueAt), 0))
	}
	g.tally.dueKnown = false
}

// tallyEnd counts how a run of the hook, or a caller's command, has ended.
func (g *Gate) tallyEnd(r *hook.Result, isHook bool) {
	results, durations := g.tally.commands, g.env.Commands
	if isHook {
		results, durations = g.tally.results, g.env.Runs
	}
	result := strings.ReplaceAll(string(cutOf(r)), " ", "_")
	switch {
	case result != "":
	case isHook && r.NotNow():
		result = "not_now"
	case r.Err != nil:
		result = "failed"
	default:
		result = "ok"
	}
	results[result]++
	if !r.NotExecuted {
		durations.Ended(g.cfg.Name, r.Took)
	}
}
