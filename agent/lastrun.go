package agent

import (
	"time"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
)

// How long ago the operation last ran must survive a restart, whatever the wall clock did meanwhile: a host without a battery starts
// in the past, and is set right when it finds a time server. Three clocks say how long:
//
//   - Within one boot of the host, boot time does, which nobody sets.
//   - After another boot, the host has been up for so long at least.
//   - The wall clock says more, if it can be compared: not if it was wrong when the run was recorded and has been set right since.
//
// The record is written again when the wall clock was set while the agent ran, so that it is always of the clock that is in force.

// correction is by how much the wall clock may be set without the record being written again.
const correction = time.Second

// unset is the Unix time before which a wall clock was never set: the year 2000.
const unset = 946_684_800

// record is what is saved of a state now.
func (a *Agent) record(s *policy.State) statedir.Record {
	now, boot := a.clock.now(), a.clock.boot()
	ago := now.Time.Sub(s.LastRun)
	return statedir.Record{
		HasRun: s.HasRun, LastRun: time.Unix(0, now.Wall).Add(-ago), LastToken: s.LastToken, Slot: s.Slot, Seq: s.Seq,
		Boot: boot.id, SinceBoot: boot.up - ago, Synced: boot.synced,
	}
}

// fromRecord takes up what an earlier life has saved.
func (g *gate) fromRecord(a *Agent, r statedir.Record) policy.State {
	now, boot := a.clock.now(), a.clock.boot()
	g.forgetImpossible(now.Wall, &r)
	s := policy.State{HasRun: r.HasRun, LastToken: r.LastToken, Slot: r.Slot, Seq: r.Seq}
	if !r.HasRun {
		return s
	}
	wall := time.Unix(0, now.Wall)
	ago, sure := lastRun(wall, &boot, &r)
	if !sure {
		g.log.Warn().Time("last_run", r.LastRun).Dur("ago_at_least", ago.Round(time.Second)).
			Msg("the wall clock was set since the last run, which may have been later than it seems; waiting min_interval from the " +
				"latest time that it can have been")
	}
	s.LastRun = now.Time.Add(-ago)
	return s
}

// lastRun returns how long ago a recorded run began, or if that is not sure, how long ago at least.
func lastRun(wall time.Time, boot *boot, r *statedir.Record) (ago time.Duration, sure bool) {
	known := boot.id != "" && r.Boot != ""
	if known && boot.id == r.Boot {
		return max(boot.up-r.SinceBoot, 0), true
	}
	var atLeast time.Duration
	if known {
		atLeast = max(boot.up, 0)
	}
	ago = wall.Sub(r.LastRun)
	setRight := known && boot.synced && !r.Synced || r.LastRun.Unix() < unset && wall.Unix() >= unset
	if setRight || ago < atLeast {
		return atLeast, false
	}
	return ago, true
}

// correctRecords writes the records again whose wall clock has been set since, or is known to be right since.
func (a *Agent) correctRecords() {
	for _, g := range a.gates {
		was := &g.saver.record
		if !was.HasRun {
			continue
		}
		if is := a.record(&g.state); is.LastRun.Sub(was.LastRun).Abs() > correction || is.Synced && !was.Synced {
			g.log.Info().Time("last_run", is.LastRun).Msg("the wall clock was set; recording the last run by it")
			a.wantSaved(g, &g.state) // If that fails, what was recorded before holds a lower bound.
			a.beginSave(g)
		}
	}
}
