package gate

import (
	"cmp"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// tally counts what became of a gate's runs and tokens, for status and metrics. Only the loop uses it.
type tally struct {
	// runs counts grants to the hook; failures counts those whose hook failed or could not be started; commands counts
	// grants to callers.
	runs, failures, commands uint64
	// results counts the ended runs of the hook by their result, commandResults those of callers' commands. taken and
	// given count the tokens, by how they came and why they went.
	results, commandResults, taken, given map[string]uint64
	// notes counts the machine's notes; sent and received count its messages.
	notes          map[policy.Note]uint64
	sent, received map[wire.Kind]uint64
	// last is how the hook last ended, nil if it has not; lastCommand is the same of a caller's command.
	last        *hook.Result
	lastCommand *control.CommandEnd
	// dueAt is the time from which this member has been due since its last run; it has a meaning if dueKnown is true.
	dueAt    policy.Time
	dueKnown bool
}

func newTally() tally {
	return tally{
		notes: make(map[policy.Note]uint64), results: make(map[string]uint64), commandResults: make(map[string]uint64),
		taken: make(map[string]uint64), given: make(map[string]uint64),
		sent: make(map[wire.Kind]uint64), received: make(map[wire.Kind]uint64),
	}
}

func (t *tally) hand(e *policy.Effect) {
	by := t.given
	if e.Kind == policy.Took {
		by = t.taken
	}
	by[e.Cause.String()]++
}

// byName names counted messages by their kinds.
func (g *Gate) byName(counts map[wire.Kind]uint64) map[string]uint64 {
	named := make(map[string]uint64, len(counts))
	for kind, n := range counts {
		named[g.descriptor.Kinds.Of(kind).Name] += n
	}
	return named
}

// tallyBegin measures the wait before a run: the wait of its caller, or of this member since it was due.
func (g *Gate) tallyBegin(now policy.Time, c *Caller) {
	switch {
	case c != nil && !c.own:
		g.env.Commands.Waited(cmp.Or(g.cfg.Pattern, g.cfg.Name), time.Since(c.since))
		return
	case c != nil:
		g.env.Runs.Waited(cmp.Or(g.cfg.Pattern, g.cfg.Name), time.Since(c.since))
	case g.tally.dueKnown:
		g.env.Runs.Waited(cmp.Or(g.cfg.Pattern, g.cfg.Name), max(now.Sub(g.tally.dueAt), 0))
	}
	g.tally.dueKnown = false
}

// tallyEnd counts how a run of the hook, or a caller's command, has ended.
func (g *Gate) tallyEnd(r *hook.Result, isHook bool) {
	results, durations := g.tally.commandResults, g.env.Commands
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
		durations.Ended(cmp.Or(g.cfg.Pattern, g.cfg.Name), r.Took)
	}
}
