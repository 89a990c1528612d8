package agent

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// tell writes a machine's note into the log, counts it and shows it to the observer.
func (a *Agent) tell(g *gate, now policy.Instant, e *policy.Effect) {
	g.notes[e.Note]++
	a.observe(g, now, e)
	if e.Note == policy.NoteDenied {
		a.tellDenied(g)
		return
	}
	level, text := saying(e.Note)
	if repeats(e.Note) {
		if said, before := g.said[e.Note]; before && now.Time.Sub(said) < sayAgain {
			level = zerolog.DebugLevel
		} else {
			g.said[e.Note] = now.Time
		}
	}
	line := g.log.WithLevel(level)
	if level < g.log.GetLevel() {
		return
	}
	if !e.Peer.IsZero() {
		line.Str("peer", a.nameOf(e.Peer))
	}
	withToken(line, &e.Token)
	switch {
	case e.Note == policy.NoteAlone:
		line.Time("next_run", a.clock.at(g.machine.Status(now.Time).NextRun))
	case e.Note == policy.NoteSlowNetwork:
		roundTrip := g.machine.Status(now.Time).RoundTrip
		line.Stringer("round_trip", roundTrip.Round(time.Millisecond)).Stringer("least_skip", wander.LeastSkip(roundTrip))
	case e.Note == policy.NoteWaiting && a.rejoins():
		line.Int("remembers", len(a.memory.fleet)).Dur("for", g.machine.Status(now.Time).RegenerateAfter)
		text = "waiting for the fleet it was in; goes on alone after that (--alone run does at once)"
	}
	line.Str("note", e.Note.String()).Msg(text)
}

// repeats reports whether a note may come in every skip for as long as its cause lasts: a member that is cut off, or has other
// settings. Those are told once in a while, and in debug in between.
func repeats(n policy.Note) bool {
	return n == policy.NoteSeqRefused || n == policy.NoteBirthRefused || n == policy.NoteNoAck || n == policy.NoteNoCommit || n == policy.NoteSlotsDiffer ||
		n == policy.NoteSlowNetwork
}

// withToken adds which token a line is about, if it is about one.
func withToken(line *zerolog.Event, t *wire.Token) *zerolog.Event {
	if t.Seq != 0 {
		line.Stringer("token", t.ID).Uint64("seq", uint64(t.Seq))
	}
	if t.LastSlot > 0 {
		line.Uint8("slot", t.Slot)
	}
	return line
}

// nameOf is what people call a member, or the first digits of its identity.
func (a *Agent) nameOf(id wire.MemberID) string {
	if id == a.self {
		return a.cfg.Name
	}
	if m, ok := a.view.Lookup(id); ok {
		return m.Name
	}
	return id.Short()
}

// saying is how loud a note is, and in which words.
func saying(n policy.Note) (zerolog.Level, string) {
	switch n {
	case policy.NoteMinted:
		return zerolog.InfoLevel, "made the first token"
	case policy.NoteRegenerated:
		return zerolog.WarnLevel, "no token came for regenerate-after; made a new one"
	case policy.NoteInquired:
		return zerolog.InfoLevel, "no token came for regenerate-after; asking other members whether they have seen it"
	case policy.NoteSeen:
		return zerolog.DebugLevel, "another member has seen the token; waiting on"
	case policy.NoteArrived:
		return zerolog.DebugLevel, "token arrived"
	case policy.NoteRan:
		return zerolog.DebugLevel, "due; the hook may start"
	case policy.NoteDenied:
		return zerolog.ErrorLevel, "not running the hook this time; the token goes on"
	case policy.NoteResting:
		return zerolog.DebugLevel, "token rests"
	case policy.NoteOffered:
		return zerolog.DebugLevel, "offering the token"
	case policy.NotePassed:
		return zerolog.DebugLevel, "token passed"
	case policy.NoteNoAck:
		return zerolog.InfoLevel, "no answer; trying another member"
	case policy.NoteNoCommit:
		return zerolog.WarnLevel, "acknowledged, but the token did not come"
	case policy.NoteRemoved:
		return zerolog.InfoLevel, "removed a token: ran a short while ago under an older one"
	case policy.NoteMet:
		return zerolog.InfoLevel, "two tokens met; removed the younger"
	case policy.NoteTokenAgain, policy.NoteAckAgain:
		return zerolog.DebugLevel, "answered a repeated message"
	case policy.NoteStrayToken, policy.NoteStrayAck, policy.NoteStrayCommit:
		return zerolog.DebugLevel, "ignored a late message"
	case policy.NoteSuspected:
		return zerolog.InfoLevel, "nothing heard of the token's holder; asking"
	case policy.NoteRevived:
		return zerolog.WarnLevel, "the token's holder is lost; took the token up again"
	case policy.NoteStoodDown:
		return zerolog.DebugLevel, "the token was removed; guarding it no longer"
	case policy.NoteUnanswered:
		return zerolog.InfoLevel, "no answer from anybody; asking the token's guardians"
	case policy.NoteYielded:
		return zerolog.WarnLevel, "hears no other member; gave up the token and told its guardians to take it: check that UDP gets through to this host"
	case policy.NoteDoubting:
		return zerolog.InfoLevel, "was away for too long; asking whether the token has another holder"
	case policy.NoteOvertaken:
		return zerolog.WarnLevel, "the token has another holder; dropped it here"
	case policy.NoteOutdated:
		return zerolog.InfoLevel, "dropped a copy of a token that has another holder"
	case policy.NoteSlotsDiffer:
		return zerolog.WarnLevel, "a member has another number of slots: give all members of a gate the same"
	case policy.NoteSlowNetwork:
		return zerolog.WarnLevel, "skip is too short for this network: answers take longer than half of it; set skip to least_skip or more, on all members"
	case policy.NoteStrayWord:
		return zerolog.DebugLevel, "ignored old news of a token"
	case policy.NoteSeqRefused:
		return zerolog.WarnLevel, "refused a message: its fencing number is higher than any fleet can have come to by this host's clock; " +
			"its sender is broken or hostile, or this clock is wrong"
	case policy.NoteBirthRefused:
		return zerolog.WarnLevel, "a token was made more than a day in the future: the clock of the member that made it is wrong, or this one"
	case policy.NoteAlone:
		return zerolog.InfoLevel, "alone in this gate; keeping the token"
	case policy.NoteWaiting:
		return zerolog.InfoLevel, "waiting to see another member (--alone run starts without)"
	case policy.NoteGaveUp:
		return zerolog.WarnLevel, "gave up the token after the suspension"
	case policy.NoteDropped:
		return zerolog.InfoLevel, "nobody is left to take the token"
	case policy.NoteLeft:
		return zerolog.InfoLevel, "left the gate"
	default:
		return zerolog.InfoLevel, n.String()
	}
}
