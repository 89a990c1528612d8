package gate

import (
	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
)

// What only one protocol has to report comes as facts. A fact that has a field of its own in the document of the
// control socket is written there; the others are listed.

// withFacts adds the facts with these keys to a line of the log, and returns the last text among them.
func (g *Gate) withFacts(line *zerolog.Event, keys []policy.Key) (text string) {
	if len(keys) == 0 {
		return ""
	}
	now := g.env.Clock.Now().Time
	facts := append(g.machine.Facts(now, nil), policy.Fact{Key: policy.KeyNextRun, At: g.machine.Status(now).NextRun})
	for _, key := range keys {
		f := policy.Find(facts, key)
		switch {
		case f == nil:
			continue
		case f.For != 0:
			line.Stringer(key.String(), f.For)
		case f.At != 0 && f.At < policy.Never:
			line.Time(key.String(), g.env.Clock.At(f.At))
		}
		if f.Text != "" {
			text = f.Text
		}
	}
	return text
}

func (g *Gate) addFact(s *control.Gate, f *policy.Fact) {
	switch f.Key {
	case policy.KeyWalk:
		s.Walk = f.Text
	case policy.KeySkip:
		s.Skip = control.Duration(f.For)
	case policy.KeyMinInterval:
		s.MinInterval = control.Duration(f.For)
	case policy.KeySlotsShare:
		s.SlotsShare = f.Count
	case policy.KeyBackups:
		s.Backups = f.Count
	case policy.KeyOnLost:
		s.OnLost = f.Text
	case policy.KeyAskBeforeRun:
		s.AskBeforeRun = f.Text == "true"
	case policy.KeyOp:
		s.Op, s.OpSource = control.Duration(f.For), f.Text
	case policy.KeyMaxInterval:
		s.MaxInterval, s.MaxIntervalRule = control.Duration(f.For), f.Text
	case policy.KeyLap:
		s.Lap = control.Duration(f.For)
	case policy.KeyTooShort:
		s.TooShort = f.Text
	case policy.KeyRegenerateAfter:
		s.RegenerateAfter = control.Duration(f.For)
	case policy.KeyWindow:
		s.Windows = append(s.Windows, f.Text)
	case policy.KeyWindowOpens:
		s.WindowOpens = g.env.Clock.At(f.At)
	case policy.KeyWindowCloses:
		s.WindowOpen = true
		if f.At < policy.Never {
			s.WindowCloses = g.env.Clock.At(f.At)
		}
	case policy.KeyRegenerateAt:
		s.RegenerateAt = g.env.Clock.At(f.At)
	case policy.KeyKeeps, policy.KeyGuardian, policy.KeyHeard, policy.KeyHome, policy.KeyWaiters, policy.KeyWaiter,
		policy.KeyCalls, policy.KeyQueued:
		// These concern one token: see whereabouts.
	case policy.KeyIntervalEnds, policy.KeyWindowOpened:
		// These tell since when a gate has been due: see situation.
	case policy.KeyKept:
		s.Kept = append(s.Kept, g.kept.grant(f))
	case policy.KeyNextRun:
		// These belong to the status itself.
	case policy.KeyRetry, policy.KeyRoundTrip, policy.KeyLeastSkip, policy.KeyWaitsForFleet, policy.KeyPromised,
		policy.KeySoakUntil,
		policy.KeyClaimed, policy.KeyLeaseUntil, policy.KeyLeastLease, policy.KeyMissing, policy.KeyOutsider,
		policy.KeyOtherRoster,
		policy.KeyClockRate,
		policy.KeyRecovery, policy.KeyPos, policy.KeyLast, policy.KeyNext, policy.KeyPred, policy.KeyCounter:
		s.Facts = append(s.Facts, g.fact(f))
	}
}

func (g *Gate) fact(f *policy.Fact) control.Fact {
	c := control.Fact{
		Name: f.Key.String(), Slot: int(f.Slot), For: control.Duration(f.For), Count: f.Count, Text: f.Text,
	}
	if f.At != 0 {
		c.At = g.env.Clock.At(f.At)
	}
	if !f.Member.IsZero() {
		c.Member, c.MemberName = f.Member.String(), g.nameOf(f.Member)
	}
	return c
}
