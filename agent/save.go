package agent

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
)

// saver saves a gate's record. A disk may take seconds for a save, or hang: another goroutine waits for it, one save at a time. Only
// the loop uses the saver.
type saver struct {
	// record is the newest record; wanted is set until its save begins.
	record statedir.Record
	wanted bool
	// since is when the current save began; zero if there is none.
	since time.Time
	// err is why the last save failed; nil if it succeeded.
	err error
	// said is the time of the last warning about a slow or failing disk.
	said time.Time
}

// saved is the end of a save on its way to the loop.
type saved struct {
	gate *gate
	// roster is what was saved, if it was not the gate's state; closed says that it was the end of the gate's history.
	roster *statedir.Roster
	closed bool
	err    error
}

func (s *saver) busy() bool { return !s.since.IsZero() }

// wantSaved puts the machine's state into the record.
func (a *Agent) wantSaved(g *gate, s *policy.State) {
	succeeded := g.saver.record.LastSuccess
	if s.LastRun != g.state.LastRun {
		g.before = g.state
	}
	g.state = *s
	if g.undone {
		g.state.HasRun, g.state.LastRun, g.state.Memo = g.before.HasRun, g.before.LastRun, g.before.Memo
	}
	g.saver.record, g.saver.wanted = a.record(g, &g.state), true
	g.saver.record.LastSuccess = succeeded
}

// beginSave saves the newest record, unless a save is in progress.
func (a *Agent) beginSave(g *gate) {
	s := &g.saver
	if !s.wanted || s.busy() {
		return
	}
	s.wanted, s.since = false, time.Now()
	record := s.record
	go func() { a.saved <- saved{gate: g, err: a.deps.save(a.state, g.cfg.Name, record)} }()
}

// onSaved ends a save. It begins the next one if the record has changed, else it tells the machine.
func (a *Agent) onSaved(end saved) {
	switch {
	case end.closed:
		a.forget(end.gate)
		return
	case end.roster != nil:
		a.onRosterSaved(end)
		return
	}
	g, s := end.gate, &end.gate.saver
	took := time.Since(s.since)
	s.since, s.err = time.Time{}, end.err
	if s.wanted {
		a.beginSave(g)
	} else {
		g.event.Kind, g.event.Failed = policy.Saved, end.err != nil
		a.step(g)
	}
	// A denied run has been logged with the reason.
	slow := took > g.cfg.Protocol.SaveWithin()
	if (end.err == nil && !slow) || time.Since(s.said) < sayAgain {
		return
	}
	s.said = time.Now()
	if end.err != nil {
		g.log.Error().Err(end.err).Msg("cannot save the state of the gate")
		return
	}
	g.log.Warn().Dur("took", took.Round(time.Millisecond)).Msg("saving the state of the gate takes long: the disk is slow")
}

// tellDenied logs at most once a minute why runs are denied.
func tellDenied(g *gate, note string) {
	s := &g.saver
	if time.Since(s.said) < sayAgain {
		return
	}
	s.said = time.Now()
	const text = "not running the hook this time; the token goes on: "
	switch {
	case s.busy():
		g.log.Error().Dur("saving_for", time.Since(s.since).Round(time.Millisecond)).Str("note", note).
			Msg(text + "its start is not recorded yet, the disk of the state directory is slow or hangs")
	case s.err != nil:
		g.log.Error().Err(s.err).Str("note", note).Msg(text + "its start could not be recorded")
	default:
		g.log.Error().Str("note", note).Msg(text + "its process could not be started in time")
	}
}

func (a *Agent) saving() bool {
	return slices.ContainsFunc(a.gates, func(g *gate) bool { return g.saver.busy() })
}
