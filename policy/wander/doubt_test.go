package wander_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
)

// doubtful are the states in which a member may hold a token, and in which it may come back after it was away.
func doubtful() map[string]func(s *scenario) {
	return map[string]func(s *scenario){
		"resting":  func(s *scenario) { s.ran(born(1, 10)); s.arrive(guardedBy(born(1, 20), 5, 4), 5) },
		"offering": func(s *scenario) { s.arrive(guardedBy(born(1, 10), 5, 4), 5); s.finish() },
		"running":  func(s *scenario) { s.arrive(guardedBy(born(1, 10), 5, 4), 5) },
	}
}

// away lets time pass in which the member stands still, and wakes it then.
func (s *scenario) away(d time.Duration) {
	s.t.Helper()
	s.pass(d)
	s.notes, s.sent = nil, nil
	s.step(policy.Event{Kind: policy.Woke})
}

// sure lets both guardians answer.
func (s *scenario) sure() {
	s.t.Helper()
	s.answer(5)
	s.answer(4)
}

func TestAHolderThatWasAwayAsksBeforeItDoesAnything(t *testing.T) {
	for state, scenario := range doubtful() {
		t.Run(state, func(t *testing.T) {
			s := inGuardedFleet(t)
			scenario(s)
			s.wantState(state)
			runs := len(s.runs)
			s.away(patience)
			s.wantNotes(guardian.NoteDoubting)
			if len(s.sent) != 2 || s.sent[0].Kind != guardian.KindAsk || s.sent[1].Kind != guardian.KindAsk {
				t.Fatalf("it sends %v", s.sent)
			}
			if state != "running" {
				s.wantState("doubting")
			}
			s.advance(patience/2 - 1)
			s.wantNotes()
			s.wantRuns(runs)
		})
	}
}

func TestAHolderThatIsSureGoesOn(t *testing.T) {
	for state, scenario := range doubtful() {
		t.Run(state, func(t *testing.T) {
			s := inGuardedFleet(t)
			scenario(s)
			s.away(patience)
			s.sure()
			if state == "running" {
				s.wantState("running")
				s.finish()
			}
			s.wantState("offering")
			if token, _ := s.ack(); token.ID != born(1, 0).ID {
				t.Errorf("it passes on %v", token.ID)
			}
		})
	}
}

// A run that was due and had not begun begins now.
func TestAHolderThatIsSureRunsIfItIsDue(t *testing.T) {
	s := inGuardedFleet(t)
	s.ran(born(1, 10))
	s.arrive(guardedBy(born(1, 20), 5, 4), 5)
	s.away(minInterval)
	s.wantRuns(1)
	s.sure()
	s.wantRuns(2)
}

// In a sweep, a token that waited here until this member is due continues to wait.
func TestAHolderThatIsSureAndDueSoonKeepsItsToken(t *testing.T) {
	cfg := withBackups(2)
	cfg.Walk = wander.Sweep
	s := ranLately(t, cfg, born(1, 10))
	s.advance(minInterval - 3*skip)
	s.arrive(guardedBy(born(1, 20), 5, 4), 5)
	s.away(patience)
	s.wantNotes(guardian.NoteDoubting)
	s.sure()
	s.wantState("resting")
	s.advance(2*skip - 1)
	s.wantRuns(0)
	s.advance(1)
	s.wantRuns(1)
}

func TestARunThatEndsInDoubtWaitsForTheAnswers(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.away(patience)
	s.finish()
	s.wantState("doubting")
	s.notes = nil
	s.sure()
	s.wantNotes(handoff.NoteOffered)
}

// The end of the run may be the first event that it sees.
func TestTheEndOfARunMayBeginADoubt(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.pass(patience)
	s.finish()
	s.wantState("doubting")
}

func TestAMemberThatLeavesInDoubtPassesItsTokenOnWhenItIsSure(t *testing.T) {
	for state, scenario := range doubtful() {
		t.Run(state, func(t *testing.T) {
			s := inGuardedFleet(t)
			scenario(s)
			s.away(patience)
			s.leave()
			if state == "running" {
				if s.stops != 1 {
					t.Errorf("the run is stopped %d times", s.stops)
				}
				s.finish()
			}
			s.wantState("doubting")
			s.sure()
			s.wantState("offering")
			s.ack()
			s.advance(linger)
			s.wantState("gone")
		})
	}
}

func TestAMemberThatLeavesInDoubtIsGoneWhenItIsOvertaken(t *testing.T) {
	s := inGuardedFleet(t)
	doubtful()["resting"](s)
	s.away(patience)
	s.leave()
	s.receive(word(guardian.KindHeartbeat, 4, born(1, 1000)))
	s.advance(linger)
	s.wantState("gone")
}

func TestAHolderThatIsOvertakenInDoubtDropsItsToken(t *testing.T) {
	for state, scenario := range doubtful() {
		t.Run(state, func(t *testing.T) {
			s := inGuardedFleet(t)
			scenario(s)
			s.away(patience)
			s.receive(word(guardian.KindHeartbeat, 4, born(1, 1000)))
			if state == "running" {
				s.finish()
			}
			s.wantState("absent")
			s.advance(10 * patience)
			s.wantState("absent")
		})
	}
}

// The Ack may be the first event that it sees: the offer is withdrawn all the same.
func TestAnOfferIsNotCommittedInDoubt(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.finish()
	offer := *s.lastSent(handoff.KindToken)
	s.pass(patience)
	s.notes = nil
	s.receive(handoff.Reply(&offer, handoff.KindAck, 77))
	s.wantNotes(guardian.NoteDoubting, handoff.NoteStrayAck)
}

// A message that is not expected is no reason to ask.
func TestAStrayMessageBeginsNoDoubt(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.pass(patience)
	s.notes = nil
	s.receive(word(guardian.KindKnown, 2, born(1, 5)))
	s.wantNotes(guardian.NoteStrayWord)
}

// A host that was asleep gives its token up, and asks no other member.
func TestASuspendedHolderDoesNotAsk(t *testing.T) {
	for state, scenario := range doubtful() {
		for _, inDoubt := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in doubt: %v", state, inDoubt), func(t *testing.T) {
				s := inGuardedFleet(t)
				scenario(s)
				if inDoubt {
					s.away(patience)
				}
				s.notes, s.sent = nil, nil
				s.sleep(time.Minute)
				s.wantNotes(wander.NoteGaveUp)
				s.advance(patience)
				s.wantTold(guardian.KindAsk)
			})
		}
	}
}

// While it asks, its guardians stay those that it has asked. Then they follow the view.
func TestTheGuardiansFollowTheViewAfterADoubt(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.away(patience)
	s.fleet(1, 2, 3)
	s.wantTrail(5, 4)
	s.sent = nil
	s.advance(patience / 2)
	s.wantTrail(1, 2)
	s.wantTold(guardian.KindHeartbeat, 1, 2)
}

// A member that finds that it is alone asks in vain, and keeps its token.
func TestASuspendedHolderThatIsAloneEndsItsDoubt(t *testing.T) {
	s := inGuardedFleet(t)
	doubtful()["resting"](s)
	s.away(patience)
	s.fleet(3)
	s.sleep(time.Minute)
	s.advance(patience / 2)
	s.wantState("resting")
}

// A member that is alone has no other to ask.
func TestAMemberAloneIsInNoDoubt(t *testing.T) {
	s := begin(t, withBackups(2), policy.State{})
	s.view(3)
	s.finish()
	s.away(time.Hour)
	s.wantRuns(2)
}

// A failed offer proves nothing about this member's own links if a guardian answers: the next member is offered the
// token at once, also in a sweep and where this member will be due soon. Otherwise one member that is gone would cost
// the fleet a part of min_interval.
func TestAHolderThatIsAnsweredOffersItsTokenToTheNextMember(t *testing.T) {
	for _, walk := range wander.Walks() {
		t.Run(walk.String(), func(t *testing.T) {
			cfg := withBackups(2)
			cfg.Walk = walk
			s := ranLately(t, cfg, born(1, 10))
			s.advance(minInterval - 8*skip)
			s.arrive(guardedBy(born(1, 20), 5, 4), 5)
			s.until(handoff.NoteOffered)
			first := s.lastSent(handoff.KindToken).To
			s.until(guardian.NoteUnanswered)
			s.notes = nil
			s.answer(4)
			s.wantNotes(handoff.NoteOffered)
			if second := s.lastSent(handoff.KindToken).To; second == first {
				t.Error("it is offered to the one again that did not answer")
			}
		})
	}
}

// For a holder that hears no other member, a replay is no answer, and it yields.
func TestAReplayIsNoAnswerToAHolderInDoubt(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.finish()
	s.until(guardian.NoteUnanswered)
	s.notes = nil
	s.receive(word(guardian.KindHeartbeat, 4, guardedBy(born(1, 5), 2, 1)))
	s.advance(patience)
	s.wantNotes(wander.NoteYielded, guardian.NoteSuspected)
}

// until lets time pass until a note is told.
func (s *scenario) until(note policy.Note) {
	s.t.Helper()
	for range 100 {
		if slices.Contains(s.notes, note) {
			return
		}
		s.advance(skip / 4)
	}
	s.t.Fatalf("never told: %v", names([]policy.Note{note}))
}
