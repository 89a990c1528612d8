package gate

import (
	"fmt"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// tell logs a machine's note, counts it and passes it to the observer. A repeating note is logged at most once a
// minute, and the others at level debug.
func (g *Gate) tell(now policy.Instant, e *policy.Effect) {
	g.tally.notes[e.Note]++
	g.observe(now, e)
	info := g.descriptor.Notes.Of(e.Note)
	if e.Note == policy.NoteStayedAway {
		g.kept.lost = fmt.Sprintf("%s has not come back within %v", g.nameOf(e.Peer), g.cfg.Keep)
	}
	emitNote(g, now, e, &info)
	if info.Denied {
		tellDenied(g, info.Name)
		return
	}
	level := levelOf(info.Level)
	if info.Repeats {
		if said, before := g.logged.notes[e.Note]; before && now.Time.Sub(said) < sayAgain {
			level = zerolog.DebugLevel
		} else {
			g.logged.notes[e.Note] = now.Time
		}
	}
	line := g.log.WithLevel(level)
	if level < g.log.GetLevel() {
		return
	}
	if !e.Peer.IsZero() {
		line.Str("peer", g.nameOf(e.Peer))
	}
	withToken(line, g, &e.Token)
	if text := g.withFacts(line, info.Facts); text != "" {
		info.Text = text
	}
	line.Str("note", info.Name).Msg(info.Text)
}

// withToken adds the token to a log line that concerns one, and its slot if the gate has several.
func withToken(line *zerolog.Event, g *Gate, t *wire.Ref) *zerolog.Event {
	if t.Seq != 0 {
		line.Stringer("token", t.ID).Uint64("seq", uint64(t.Seq))
	}
	if _, several := g.machine.Machine.(policy.Slotted); several && *t != (wire.Ref{}) {
		line.Uint8("slot", t.Slot)
	}
	return line
}

// nameOf returns a member's name, or the first digits of its identity if the name is unknown.
func (g *Gate) nameOf(id wire.MemberID) string {
	if id == g.env.Self {
		return g.env.Name
	}
	if m, ok := g.env.Fleet.Lookup(g.id, id); ok {
		return m.Name
	}
	if s := g.kept.sights[id]; s.name != "" {
		return s.name
	}
	if g.roster != nil {
		for _, v := range g.roster.known.Voters {
			if v.ID == id {
				return v.Name
			}
		}
	}
	return id.Short()
}

func levelOf(l policy.Level) zerolog.Level {
	return [...]zerolog.Level{
		policy.Debug: zerolog.DebugLevel, policy.Info: zerolog.InfoLevel,
		policy.Warn: zerolog.WarnLevel, policy.Error: zerolog.ErrorLevel,
	}[l]
}
