package wander_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
)

// Members that come may have a token of their own, or a copy of this one. So this holder and the next ones tell them of
// this token for a while.
func TestMembersThatComeAreToldOfTheToken(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.finish()
	s.ack()
	s.sent = nil
	s.fleet(1, 2, 3, 4, 5, 7, 8)
	s.wantTold(guardian.KindHeartbeat) // it holds none
	s.arrive(guardedBy(born(1, 14), 1, 2), 1)
	s.wantTold(guardian.KindHeartbeat, 1, 2, 7, 8)
}

// Where all hosts of a fleet restart, every moment another one comes: a holder had told all of them each time, in a
// fleet of 70 more than 1,500 times in a few seconds.
func TestAHolderTellsEachMemberThatComesOnce(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.sent = nil
	s.fleet(1, 2, 3, 4, 5, 7)
	s.wantTold(guardian.KindHeartbeat, 7)
	s.fleet(1, 2, 3, 4, 5, 7, 8)
	s.wantTold(guardian.KindHeartbeat, 8)
	s.fleet(1, 2, 4, 5, 7, 8)
	s.wantTold(guardian.KindHeartbeat)
}

func TestMembersThatCameLongAgoAreNotToldOfTheToken(t *testing.T) {
	s := inGuardedFleet(t)
	s.fleet(1, 2, 3, 4, 5, 7, 8)
	s.advance(8 * timeout)
	s.arrive(guardedBy(born(1, 14), 1, 2), 1)
	s.wantTold(guardian.KindHeartbeat, 1, 2)
}

func TestOfTwoTokensWhoseHoldersHearOfEachOtherTheOlderSurvives(t *testing.T) {
	t.Run("here", func(t *testing.T) {
		s := inGuardedFleet(t)
		s.arrive(guardedBy(born(5, 10), 5, 4), 5)
		s.sent = nil
		s.receive(word(guardian.KindHeartbeat, 7, guardedBy(born(7, 3), 6, 8)))
		s.wantTold(guardian.KindTombstone, 7)
		s.wantHeld(born(5, 0).ID)
	})
	t.Run("there", func(t *testing.T) {
		s := inGuardedFleet(t)
		s.arrive(guardedBy(born(5, 10), 5, 4), 5)
		s.sent = nil
		s.receive(word(guardian.KindHeartbeat, 7, guardedBy(born(2, 3), 6, 8)))
		s.wantTold(guardian.KindHeartbeat, 7)
		s.wantHeld(born(5, 0).ID) // its holder may be dead, and its heartbeat a replay
		s.notes = nil
		s.receive(word(guardian.KindTombstone, 7, guardedBy(born(5, 11), 5, 4)))
		s.wantNotes(wander.NoteOvertaken)
		s.wantState("running")
		s.finish()
		s.wantState("absent")
		s.wantTold(handoff.KindToken)
	})
}

// Only a token that is held now is a reason to end another one.
func TestOnlyAHolderEndsAnotherToken(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(5, 10), 5, 4), 5)
	s.finish()
	s.ack()
	s.sent = nil
	s.receive(word(guardian.KindHeartbeat, 7, guardedBy(born(7, 30), 6, 8)))
	s.wantTold(guardian.KindTombstone)
}
