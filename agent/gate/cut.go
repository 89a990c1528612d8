package gate

import (
	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/statedir"
)

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
