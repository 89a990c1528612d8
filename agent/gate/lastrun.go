package gate

import (
	"time"

	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
)

// The time since the last run must survive a restart, whatever happened to the wall clock: a host without a battery
// starts in the past, and a time server corrects its clock later. Three clocks measure this time:
//
//   - Within one boot of the host: boot time. Nobody can set it.
//   - After another boot: the host's uptime is a lower bound.
//   - The wall clock, if it is comparable: not if it was wrong when the run was recorded and has been corrected since.
//
// The record is written again when the wall clock is set while the agent runs, so its time is always that of the
// current clock.

// correction is the largest change of the wall clock after which the record is not written again.
const correction = time.Second

// unset is the Unix time before which a wall clock counts as never set: the year 2000.
const unset = 946_684_800

// record converts a state to its record now.
func (g *Gate) record(s *policy.State) statedir.Record {
	now, boot := g.env.Clock.Now(), g.env.Clock.Boot()
	ago := now.Time.Sub(s.LastRun)
	return statedir.Record{
		HasRun: s.HasRun, LastRun: time.Unix(0, now.Wall).Add(-ago), Seq: s.Seq,
		Boot: boot.ID, SinceBoot: boot.Up - ago, Synced: boot.Synced,
		Protocol: g.descriptor.Name, ProtocolVersion: g.descriptor.Version, Memo: s.Memo,
		Directive: statedir.Directive{
			Directive: s.Directive, Who: g.directives.fleet.Who, Reason: g.directives.fleet.Reason,
		},
		Here: g.directives.here, Kept: g.kept.record(s, boot.ID), Claim: statedir.ClaimOf(&s.Claim, now),
	}
}

// fromRecord converts a record from before the restart to a state.
func (g *Gate) fromRecord(r statedir.Record) policy.State {
	now, boot := g.env.Clock.Now(), g.env.Clock.Boot()
	g.forgetImpossible(now.Wall, &r)
	g.undoCut(&boot, &r)
	s := policy.State{
		HasRun: r.HasRun, Seq: r.Seq, Memo: r.Memo, Directive: r.Directive.Directive, Here: r.Here.Until,
		Kept: r.Kept.Grant(), Claim: r.Claim.Claim(now),
	}
	g.forgetMemo(now.Wall, boot.Synced, &r, &s)
	if !r.HasRun {
		return s
	}
	wall := time.Unix(0, now.Wall)
	ago, sure := lastRun(wall, &boot, &r)
	if !sure {
		g.log.Warn().Time("last_run", r.LastRun).Dur("ago_at_least", ago.Round(time.Second)).
			Msg("the wall clock was set since the last run, which may have been later than recorded; " +
				"waiting min_interval from the latest possible time of that run")
	}
	s.LastRun = now.Time.Add(-ago)
	return s
}

// lastRun returns the time since the start of a recorded run. If sure is false, it is a lower bound.
func lastRun(wall time.Time, boot *clock.Boot, r *statedir.Record) (ago time.Duration, sure bool) {
	known := boot.ID != "" && r.Boot != ""
	if known && boot.ID == r.Boot {
		return max(boot.Up-r.SinceBoot, 0), true
	}
	var atLeast time.Duration
	if known {
		atLeast = max(boot.Up, 0)
	}
	ago = wall.Sub(r.LastRun)
	setRight := known && boot.Synced && !r.Synced || r.LastRun.Unix() < unset && wall.Unix() >= unset
	if setRight || ago < atLeast {
		return atLeast, false
	}
	return ago, true
}

// CorrectRecord writes the record again if the wall clock was set, or became synchronised, after it was written.
func (g *Gate) CorrectRecord() {
	was := &g.saver.record
	if !was.HasRun && !g.state.Claim.Is() {
		return
	}
	moved := func(is, was time.Time) bool { return is.Sub(was).Abs() > correction }
	is := g.record(&g.state)
	if moved(is.LastRun, was.LastRun) || moved(is.Claim.Until, was.Claim.Until) || is.Synced && !was.Synced {
		g.log.Info().Time("last_run", is.LastRun).Msg("the wall clock was set; writing the record of this gate by it")
		g.wantSaved(&g.state) // If that fails, the old record still gives a lower bound.
		g.beginSave()
	}
}
