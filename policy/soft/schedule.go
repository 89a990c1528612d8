package soft

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/wire"
)

// The reasons why a schedule does not let a member run, as clauses that complete "not running because …"; package pace
// has the clauses about times.
const (
	// WhyNotReady: it is due, and its host has not reported that it needs a run.
	WhyNotReady = "due, and the host has not said that it is ready"
	// WhyUnwanted: it runs on demand, and no caller waits.
	WhyUnwanted = "nobody here waits for a run"
	// WhyUnused: the token is here, and a former holder has died or was stopped in its soak.
	WhyUnused = "the soak of another host, whose agent is gone, is not over"
)

// Schedule decides when a run is due here. It keeps what that depends on: the last run and how it ended, whether a
// caller waits, whether the host is ready, whether the gate is paused, the windows, and the runs under the other tokens
// of the gate.
//
// Waiting callers: "A gate may have a hook, take commands, or both. A demand is one bit to the machine; local callers
// queue at the agent." A member of a gate on demand is due only when it is wanted, and after min_interval if there is
// one. Each demand leads to at most one run. In a gate with a hook, min_interval applies to the hook only, and a member
// that is wanted is due at once. If the hook is due too, hook and callers take turns: see package pace. A caller's run
// counts neither for min_interval nor for op.
//
// Ready hosts: a host may report whether it needs a run. Until it does, its member is not due: the token passes by, as
// within Δmin. A run for a caller does not need the host's report. While no run may start at all, callers wait, too,
// and whose turn is next stays as it is.
//
// Windows: a member is due only while a window of its gate is open: "a member that may not run passes the token on;
// nobody ever holds and waits for a window". The only exception is a member that keeps the token because it is due
// soon: it also keeps the token for a window that opens within a lap of skips.
//
// Failed runs are repeated: see package pace.
type Schedule struct {
	// wanted is true while callers here wait for a run. demanded is true if the granted or present run is for them
	// only.
	wanted, demanded bool
	turns            pace.Turns
	// paused is true while an operator has paused the gate. unready is true while the host has not reported that it
	// needs a run, barred while no run may start at all. surplus is true while the token is one too many.
	paused, unready, barred, surplus bool
	// failures is how many runs have failed in a row.
	failures uint8
	// hadRun is true if there was a run before the last one.
	hadRun bool
	// disturbed is true if the duration of the present run means nothing: it was told to stop, or the host was asleep.
	disturbed bool

	// calendar is nil in a gate without windows.
	calendar *pace.Calendar

	// ran is when the operation last started here, and under which token; it is set if ran.ever is. before is the same
	// for the run before that one, and is set if hadRun is.
	ran    lastRun
	before struct {
		at   policy.Time
		wait time.Duration
	}

	// elsewhere is the state of the other slots of this member.
	elsewhere Elsewhere
}

// lastRun is when the operation last started here, and under which token.
type lastRun struct {
	ever bool
	// restored is true if the run was in an earlier life of this member. members is how many members were here then;
	// zero if that is not known.
	restored bool
	members  uint32
	at       policy.Time
	// wait is the time from at to the next run, if that run is to be repeated before Δmin is over; else zero.
	wait  time.Duration
	under wire.TokenID
}

// Restore continues after an earlier life. If the last run is in the future, a clock was or is wrong. It counts as a
// run that starts now; otherwise this member might not run for years.
func (s *Schedule) Restore(cfg Terms, now policy.Time, saved *policy.State, ran *Memo) {
	s.ran.ever, s.ran.at = saved.HasRun, min(saved.LastRun, now)
	s.ran.restored, s.ran.members = saved.HasRun, ran.Members
	s.setRepeat(cfg.pace().Held(pace.Repeat{Wait: ran.Wait, Failures: ran.Failures}))
	if ran.Slot == cfg.Slot {
		s.ran.under = ran.Token
	}
}

// Tune takes the constants of cfg.
func (s *Schedule) Tune(cfg Terms) {
	s.SetCalendar(cfg)
	s.setRepeat(cfg.pace().Held(s.repeat()))
}

// SetCalendar makes the calendar of the present windows. Most machines have none.
func (s *Schedule) SetCalendar(cfg Terms) {
	old := s.calendar
	if s.calendar = nil; len(*cfg.Windows) > 0 {
		s.calendar = &pace.Calendar{Windows: cfg.Windows}
		if old != nil {
			s.calendar.Ahead = old.Ahead
		}
	}
}

// See reads the clocks. It must be called first in a step.
func (s *Schedule) See(now policy.Instant) {
	if s.calendar != nil {
		s.calendar.See(now)
	}
}

// Know takes the state of the other slots of this member.
func (s *Schedule) Know(e Elsewhere) { s.elsewhere = e }

// Share takes what another slot knows of this member: callers and failures are those of all slots.
func (s *Schedule) Share(other *Schedule) {
	s.wanted, s.turns, s.failures = other.wanted, other.turns, other.failures
}

// Join takes over what the schedule of this member's first slot knows, for a slot that comes into use later.
func (s *Schedule) Join(first *Schedule) {
	s.Share(first)
	s.paused, s.unready, s.barred = first.paused, first.unready, first.barred
	if s.calendar != nil {
		s.calendar.Ahead = first.calendar.Ahead
	}
}

// Want records that a caller waits for a run here. hookRuns is true if the hook runs now: then the caller may have the
// Next grant.
func (s *Schedule) Want(cfg Terms, hookRuns bool) {
	s.wanted = true
	if hookRuns && !cfg.OnDemand {
		s.turns.Owe()
	}
}

// Unwant records that no caller waits any longer.
func (s *Schedule) Unwant() {
	s.wanted = false
	s.turns.Gone()
}

// Pause records that an operator has paused the gate, or continues it.
func (s *Schedule) Pause(paused bool) { s.paused = paused }

// SetSurplus records whether the token is one too many, by the share of the members that may run at once: nobody runs
// under it then.
func (s *Schedule) SetSurplus(surplus bool) { s.surplus = surplus }

// IsSurplus reports whether the token is one too many.
func (s *Schedule) IsSurplus() bool { return s.surplus }

// Inherit takes over the last run under a token that is one too many, if it is later: the run counts, its token does
// not come back.
func (s *Schedule) Inherit(from *Schedule) {
	if from.ran.ever && (!s.ran.ever || from.ran.at > s.ran.at) {
		s.ran = from.ran
		s.ran.under = wire.TokenID{}
	}
}

// SetReady records whether the operation may be due, and whether a run may start for a caller: see [policy.Askable]. It
// reports whether anything may start, and whether that has just become so.
func (s *Schedule) SetReady(own, callers bool) (may, turned bool) {
	turned = callers && (own && s.unready || s.wanted && s.barred)
	s.unready, s.barred = !own || !callers, !callers
	return callers && (own || s.wanted), turned
}

// IsCallers reports whether the granted or present run is for callers only.
func (s *Schedule) IsCallers() bool { return s.demanded }

// CalledOff reports whether a granted run must not start, because the host has reported meanwhile that it needs none,
// or because none may start.
func (s *Schedule) CalledOff() bool { return s.unready && !s.demanded || s.barred }

// unwanted reports whether this member does not run because no caller waits, because the gate is paused, or because the
// token is one too many.
func (s *Schedule) unwanted(cfg Terms) bool {
	return s.paused || s.surplus || cfg.OnDemand && !s.wanted
}

// overrides reports whether a caller waits that need not wait for min_interval, and may run.
func (s *Schedule) overrides(cfg Terms) bool { return s.wanted && !cfg.OnDemand && !s.barred }

// Due is the earliest time at which this member may run: while a window is open, under any of the gate's tokens, but
// never under two at once. In a gate on demand, only a waiting caller makes it due; in other gates a waiting caller or
// a ready host does. unused is until when the held token is not used, if that is later than now.
func (s *Schedule) Due(cfg Terms, now, unused policy.Time) policy.Time {
	switch {
	case s.unwanted(cfg), s.unready && !s.overrides(cfg):
		return policy.Never
	case s.overrides(cfg):
		return s.mayRunAt(cfg, now, now, unused)
	}
	return s.mayRunAt(cfg, now, s.intervalEnds(cfg, now), unused)
}

// IfReady is when this member is due if no caller waits, its host is ready then, and nothing runs here under another
// token: what runs for a caller makes the operation no less due.
func (s *Schedule) IfReady(cfg Terms, now, unused policy.Time) policy.Time {
	if s.paused || s.surplus || cfg.OnDemand {
		return policy.Never
	}
	return s.isOpenAt(now, s.intervalEnds(cfg, now), unused)
}

// Next is when this member is due if its host is ready then.
func (s *Schedule) Next(cfg Terms, now, unused policy.Time) policy.Time {
	if s.unready && !s.overrides(cfg) {
		return s.IfReady(cfg, now, unused)
	}
	return s.Due(cfg, now, unused)
}

// mayRunAt is the first time, not before due, at which a window is open and nothing runs here under another token.
func (s *Schedule) mayRunAt(cfg Terms, now, due, unused policy.Time) policy.Time {
	due = s.isOpenAt(now, due, unused)
	if s.elsewhere.Running {
		due = max(due, now.Add(cfg.Skip))
	}
	return due
}

// isOpenAt is the first time, not before due, at which a window is open.
func (s *Schedule) isOpenAt(now, due, unused policy.Time) policy.Time {
	if unused > now {
		due = max(due, unused)
	}
	if s.calendar != nil {
		due = s.calendar.Opens(max(due, now))
	}
	return due
}

// intervalEnds is when "the minimum time between two successive protected operations" is over, or the time between a
// failed run and its repetition.
func (s *Schedule) intervalEnds(cfg Terms, now policy.Time) policy.Time {
	if ends, ok := s.OwnIntervalEnds(cfg); ok {
		now = ends
	}
	if e := &s.elsewhere; e.HasRun {
		now = max(now, e.IntervalEnds)
	}
	return now
}

// OwnIntervalEnds is the same under this token alone: Δmin after the start of the last run, or less if that run is to
// be repeated.
func (s *Schedule) OwnIntervalEnds(cfg Terms) (at policy.Time, hasRun bool) {
	return s.ran.at.Add(cfg.pace().Interval(s.repeat())), s.ran.ever
}

// Waiting reports whether another token waits here until this member is due.
func (s *Schedule) Waiting() bool { return s.elsewhere.Waiting }

// RunsElsewhere reports whether a run under another token is going on here.
func (s *Schedule) RunsElsewhere() bool { return s.elsewhere.Running }

// Grant decides whether the run that is granted now is for callers only.
func (s *Schedule) Grant(cfg Terms, now policy.Time) {
	s.demanded = s.overrides(cfg) && s.turns.Callers(!s.unready && now >= s.intervalEnds(cfg, now))
}

// Begin records the start of the granted run, which ends the demand.
func (s *Schedule) Begin(now policy.Time, under wire.TokenID, members int) {
	s.wanted = false
	s.disturbed = false
	s.hadRun, s.before.at, s.before.wait = s.ran.ever, s.ran.at, s.ran.wait
	if !s.demanded {
		s.ran = lastRun{ever: true, at: now, under: under, members: uint32(members)}
	}
}

// Resume goes on with a run of an earlier life, which is the last run as it was saved.
func (s *Schedule) Resume(demanded bool) {
	s.demanded, s.disturbed = demanded, true
	s.hadRun, s.before.at, s.before.wait = s.ran.ever, s.ran.at, s.ran.wait
}

// GoOnUnder records that the present run goes on under another token.
func (s *Schedule) GoOnUnder(id wire.TokenID) {
	if !s.demanded {
		s.ran.under = id
	}
}

// End records the end of the present run. A run that was denied has not started, because it was too late: the last run
// is again the previous one. The token of the previous run need not be restored, because min_interval has passed since
// then.
func (s *Schedule) End(denied bool) {
	s.turns.Ended(s.demanded, denied)
	if denied {
		s.ran.ever, s.ran.at, s.ran.wait = s.hadRun, s.before.at, s.before.wait
	}
}

// Disturb records that the duration of the present run means nothing.
func (s *Schedule) Disturb() { s.disturbed = true }

// Stop ends a run early.
func (s *Schedule) Stop(out []policy.Effect) []policy.Effect {
	s.Disturb()
	return append(out, policy.Effect{Kind: policy.Stop})
}

// Took is how long the present run has taken until now; counts is true if it is a run of the hook and its duration
// means something.
func (s *Schedule) Took(now policy.Time) (took time.Duration, counts bool) {
	return now.Sub(s.ran.at), !s.disturbed && !s.demanded
}

// Conclude decides after a run when the next one is due. It returns the note to be told, and whether the outcome must
// be saved. Only the caller repeats a caller's command.
func (s *Schedule) Conclude(cfg Terms, now policy.Time, o policy.Outcome) (note policy.Note, changed bool) {
	if cfg.RetryAfter == 0 || cfg.OnDemand || s.demanded {
		return 0, false
	}
	before := s.repeat()
	s.setRepeat(cfg.pace().After(before, s.ran.at, now, o))
	return cfg.pace().NoteOf(o), s.repeat() != before
}

// repeat is what follows the last run.
func (s *Schedule) repeat() pace.Repeat { return pace.Repeat{Wait: s.ran.wait, Failures: s.failures} }

func (s *Schedule) setRepeat(r pace.Repeat) { s.ran.wait, s.failures = r.Wait, r.Failures }

// Record is the last run as it is saved.
func (s *Schedule) Record(cfg Terms) (policy.State, Memo) {
	ran := Memo{Token: s.ran.under, Slot: cfg.Slot, Wait: s.ran.wait, Failures: s.failures, Members: s.ran.members}
	return policy.State{HasRun: s.ran.ever, LastRun: s.ran.at}, ran
}

// LastRun returns when the last run started, if there was one.
func (s *Schedule) LastRun() (at policy.Time, hasRun bool) { return s.ran.at, s.ran.ever }

// Restored reports whether the last run was in an earlier life of this member.
func (s *Schedule) Restored() bool { return s.ran.restored }

// MembersThen is how many members were here when the last run started; zero if that is not known.
func (s *Schedule) MembersThen() int { return int(s.ran.members) }

// RanUnderOlder reports whether this member ran less than Δmin ago under a token that precedes id. The token of the
// last run is unknown if its slot no longer exists. Then that run is no reason to discard another token.
func (s *Schedule) RanUnderOlder(cfg Terms, now policy.Time, id wire.TokenID) bool {
	lately := s.ran.ever && now < s.ran.at.Add(cfg.MinInterval)
	return lately && !s.ran.under.Generator.IsZero() && s.ran.under.Precedes(id)
}

// UnshelvedAt is when a token is no longer kept unused because of the last run: Δmin is over.
func (s *Schedule) UnshelvedAt(cfg Terms) policy.Time { return s.ran.at.Add(cfg.MinInterval) }

// Why returns why this member is not due, if nothing else keeps it from running; it is empty if it is due. next is when
// it is due.
func (s *Schedule) Why(cfg Terms, now, next policy.Time) string {
	switch {
	case s.unwanted(cfg):
		return WhyUnwanted
	case next > now && s.calendar.Opens(now) > now: // A run that is next now is in a window.
		return pace.WhyClosed
	case now < next && now >= s.ran.at.Add(s.ran.wait):
		return pace.WhyTooSoon // The run of another slot counts.
	case now < next:
		return s.repeat().Why()
	case s.unready && !s.overrides(cfg):
		return WhyNotReady
	}
	return ""
}

// WindowFacts appends the windows and when they open.
func (s *Schedule) WindowFacts(now policy.Time, out []policy.Fact) []policy.Fact {
	return s.calendar.Facts(now, out)
}

// Facts appends when the interval after the last run is over, and how many runs have failed.
func (s *Schedule) Facts(cfg Terms, now policy.Time, out []policy.Fact) []policy.Fact {
	if s.ran.ever {
		out = append(out, policy.Fact{Key: policy.KeyIntervalEnds, At: s.intervalEnds(cfg, now)})
	}
	return s.repeat().Facts(out)
}
