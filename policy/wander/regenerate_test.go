package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
)

// A handoff in progress may be about to end the silence, and is given the time that it needs.
func TestNobodyRegeneratesWhileATokenIsArriving(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.advance(maxInterval - 1)
	commit := s.acknowledged(born(1, 20), 2)
	s.advance(timeout - 1)
	s.wantNotes()
	s.receive(commit)
	s.wantNotes(wander.NoteArrived, wander.NoteRan)
}

// If the handoff brings no token, the silence continues.
func TestAHandoffWithoutACommitEndsInANewToken(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.advance(maxInterval - 1)
	s.acknowledged(born(1, 20), 2)
	s.advance(timeout - 1)
	s.wantNotes()
	s.advance(1)
	s.wantNotes(handoff.NoteNoCommit, wander.NoteRegenerated, handoff.NoteOffered)
}

// Recorded Tokens, played back one after the other, delay a new token by two timeouts and no longer.
func TestTokensPlayedBackDoNotPreventANewOne(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.advance(maxInterval - timeout)
	for range 11 {
		s.receive(s.offerIn(born(1, 20), 2))
		s.advance(timeout / 4)
	}
	s.wantState("absent")
	s.advance(timeout / 4)
	s.wantState("offering")
	if n := len(s.notes); s.notes[n-2] != wander.NoteRegenerated {
		t.Errorf("it notes %v", names(s.notes))
	}
}

// Only false alarms raise Δgen above Δmax, by a share of it: when the view grows or shrinks, both follow at once.
func TestRegenerateAfterFollowsMaxIntervalBothWays(t *testing.T) {
	cfg := config()
	cfg.MinInterval = op
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3)
	s.wantRegenerateAfter(9 * op)
	s.fleet(1, 2, 3, 4, 5)
	s.wantRegenerateAfter(15 * op)
	s.fleet(1, 2, 3)
	s.wantRegenerateAfter(9 * op)
	s.advance(9 * op)
	s.wantRegenerateAfter(9 * op * 3 / 2)
	s.fleet(1, 2, 3, 4, 5)
	s.wantRegenerateAfter(15 * op * 3 / 2)
	s.ack()
	s.arrive(born(1, 10), 1)
	s.wantRegenerateAfter(15*op + 15*op/2*19/20)
	s.fleet(1, 3)
	s.wantRegenerateAfter(6*op + 6*op/2*19/20)
}

// Constants beyond reason give waits beyond reason, not waits that are over at once.
func TestNoConstantWrapsAround(t *testing.T) {
	const forever = time.Duration(1<<63 - 1)
	for name, set := range map[string]func(cfg *wander.Config){
		"skip":         func(cfg *wander.Config) { cfg.Skip = forever },
		"op":           func(cfg *wander.Config) { cfg.Op = forever / 2 },
		"min_interval": func(cfg *wander.Config) { cfg.MinInterval = forever },
		"max_interval": func(cfg *wander.Config) { cfg.MaxInterval = forever },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			set(&cfg)
			s := begin(t, cfg, policy.State{
				HasRun: true, LastRun: policy.Time(time.Hour), Memo: soft.Memo{Token: born(1, 0).ID}.Bytes(),
			})
			s.view(1, 2, 3, 4, 5)
			s.fleet(1, 2, 3, 4, 5)
			s.arrive(born(1, 10), 1)
			s.advance(10 * skip)
			if at, _ := s.m.NextWake(); at <= s.now.Time {
				t.Errorf("at %v it asks for %v", s.now.Time, at)
			}
			if st := s.m.Detail(s.now.Time); st.MaxInterval < maxInterval || st.RegenerateAfter < maxInterval ||
				st.NextRun < s.now.Time {
				t.Errorf("its status is %+v", st)
			}
			s.wantRuns(0)
		})
	}
}

func TestRegenerateAfterRisesToTheEndOfTheRangeOnly(t *testing.T) {
	const most = time.Duration(1<<63 - 1)
	cfg := config()
	cfg.MaxInterval = most / 4 * 3
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3)
	s.advance(cfg.MaxInterval)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
	s.wantRegenerateAfter(most)
}

// Where answers take longer than max_interval, sightings count from the question, and so a token that is here all the
// time seems to have been away for longer. All are asked again until its age itself is as long.
func TestATokenThatWasSeenJustBeforeAnAnswerIsNotLost(t *testing.T) {
	cfg := config()
	cfg.Backups, cfg.MinInterval, cfg.MaxInterval = 2, timeout/20, timeout/4
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	s.advance(cfg.MaxInterval)
	s.wantNotes(wander.NoteInquired)
	for range 3 {
		s.advance(timeout)
		s.seen(born(1, 10), time.Millisecond)
		s.advance(silent - timeout)
		s.wantNotes(wander.NoteInquired)
	}
	s.advance(timeout)
	s.seen(born(1, 10), 5*timeout)
	s.advance(silent - timeout)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
}
