package gate

import (
	"time"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
)

// saver saves a gate's record. A disk may take seconds for a save, or hang, so another goroutine waits for it, one save
// at a time. Only the loop uses the saver.
type saver struct {
	// record is the newest record. wanted is true until its save begins.
	record statedir.Record
	wanted bool
	// since is when the current save began; zero if there is none.
	since time.Time
	// err is why the last save failed; nil if it succeeded.
	err error
	// said is the time of the last warning about a slow or failing disk.
	said time.Time
	// before is the state before the last run, begun the state with which that run began, and cut what has cut it
	// short.
	before, begun policy.State
	cut           cut
}

func (s *saver) busy() bool { return !s.since.IsZero() }

// wantSaved puts the machine's state into the record.
func (g *Gate) wantSaved(s *policy.State) {
	succeeded := g.saver.record.LastSuccess
	isNew := s.HasRun != g.state.HasRun || s.LastRun != g.state.LastRun
	// while g.run is set, the start of the same run may be corrected to a little later
	if isNew && g.run == nil && g.saver.cut == uncut {
		g.saver.before, g.saver.begun = g.state, *s
	}
	g.state = *s
	if g.saver.cut != uncut {
		g.state.HasRun, g.state.LastRun, g.state.Memo = g.saver.begun.HasRun, g.saver.begun.LastRun, g.saver.begun.Memo
	}
	g.saver.record, g.saver.wanted = g.record(&g.state), true
	g.saver.record.LastSuccess = succeeded
	if g.saver.cut == byStop {
		was := g.record(&g.saver.before)
		g.saver.record.Cut, g.saver.record.Before.Memo = true, was.Memo
		if was.HasRun {
			g.saver.record.Before.LastRun, g.saver.record.Before.SinceBoot = was.LastRun, was.SinceBoot
		}
	}
}

// beginSave saves the newest record, unless a save is in progress.
func (g *Gate) beginSave() {
	s := &g.saver
	if !s.wanted || s.busy() {
		return
	}
	s.wanted, s.since = false, time.Now()
	record := s.record
	go func() {
		var err error
		if g.cfg.Pattern == "" { // Of a gate on demand nothing has to be remembered: see wire.SeqOfClock.
			err = g.env.Disk.Save(g.cfg.Name, record)
		}
		g.env.Ended <- func() { g.onSaved(err) }
	}()
}

// onSaved ends a save. It begins the next one if the record has changed; otherwise it tells the machine.
func (g *Gate) onSaved(err error) {
	s := &g.saver
	took := time.Since(s.since)
	s.since, s.err = time.Time{}, err
	if s.wanted {
		g.beginSave()
	} else {
		g.kept.lock.onSaved(g, err)
		g.kept.onSaved(err)
		g.event.Kind, g.event.Failed = policy.Saved, err != nil
		g.step()
	}
	// A denied run has been logged with the reason.
	slow := took > g.SaveWithin()
	if (err == nil && !slow) || time.Since(s.said) < sayAgain {
		return
	}
	s.said = time.Now()
	if err != nil {
		g.log.Error().Err(err).Msg("cannot save the state of the gate")
		return
	}
	g.log.Warn().Dur("took", took.Round(time.Millisecond)).
		Msg("saving the state of the gate takes long: the disk is slow")
}

// SaveWithin is the longest save after which a run may start.
func (g *Gate) SaveWithin() time.Duration { return g.cfg.Protocol.SaveWithin() }

// Restored saves the state again, because the files on the disk are gone.
func (g *Gate) Restored() {
	if g.saver.record != (statedir.Record{}) {
		g.wantSaved(&g.state)
		g.beginSave()
	}
	if g.roster != nil {
		g.roster.saved = statedir.Roster{}
		g.roster.save()
	}
}

// tellDenied logs, at most once a minute, why runs are denied.
func tellDenied(g *Gate, note string) {
	s := &g.saver
	if time.Since(s.said) < sayAgain || g.deferral.Is() { // The log says already that a run is put off.
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
