package wander_test

import (
	"fmt"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// Along its way a token's number only rises. A token that comes with a number lower than the one with which it was
// here, or that was heard of, is a copy that was overtaken.
func TestACopyThatWasOvertakenIsDiscarded(t *testing.T) {
	for name, tc := range map[string]struct {
		see func(s *scenario)
		seq wire.Seq
		// Its guardians are told of the other copy.
		told   wire.Kind
		latest wire.Seq
	}{
		"by one that is here":    {func(s *scenario) { s.arrive(born(1, 50), 1) }, 50, guardian.KindKnown, 51},
		"by one that was here":   {func(s *scenario) { s.ran(born(1, 50)) }, 50, guardian.KindKnown, 52},
		"by one that is guarded": {func(s *scenario) { s.keeps(born(1, 50)) }, 49, guardian.KindKnown, 50},
		"by itself, as it was here while an older one is guarded": {func(s *scenario) {
			s.ran(born(1, 50))
			s.keeps(born(0, 2000))
		}, 51, guardian.KindKnown, 51},
		"by one that is guarded where a younger one was": {func(s *scenario) {
			s.keeps(born(1, 30))
			s.arrive(born(5, 1000), 1)
			s.finish()
			s.ack()
		}, 29, guardian.KindKnown, 30},
		"by one that went on": {func(s *scenario) {
			s.keeps(born(1, 40))
			s.receive(word(guardian.KindKnown, 2, guardedBy(born(1, 50), 2)))
		}, 49, guardian.KindKnown, 50},
		"by one that was removed": {func(s *scenario) {
			s.keeps(born(1, 40))
			s.receive(word(guardian.KindTombstone, 2, born(1, 50)))
			s.receive(word(guardian.KindKnown, 2, born(1, 50)))
		}, 39, guardian.KindTombstone, 50},
	} {
		t.Run(name, func(t *testing.T) {
			s := inGuardedFleet(t)
			tc.see(s)
			held := s.m.Detail(s.now.Time).Holding
			s.numbers = map[wire.TokenID]wire.Seq{}
			commit := s.acknowledged(guardedBy(born(1, tc.seq), 5, 4), 5)
			s.notes, s.sent = nil, nil
			s.receive(commit)
			s.wantNotes(wander.NoteOutdated)
			if got := s.m.Detail(s.now.Time).Holding; got != held {
				t.Errorf("it holds a token: %v", got)
			}
			if got := s.lastSent(tc.told).Token.Seq; got != tc.latest {
				t.Errorf("its guardians are told of %d", got)
			}
			s.wantTold(tc.told, 5, 4)
		})
	}
}

// All the same, it is a sign that there is a token.
func TestACopyThatIsDiscardedEndsASilence(t *testing.T) {
	s := inGuardedFleet(t)
	s.keeps(born(1, 50))
	s.receive(word(guardian.KindKnown, 2, guardedBy(born(1, 60), 2)))
	s.advance(maxInterval - 1)
	s.arrive(born(1, 55), 4)
	s.notes = nil
	s.advance(maxInterval - 1)
	s.wantNotes()
	s.advance(1)
	s.wantNotes(wander.NoteInquired)
}

// The other way round, the copy that has come further replaces the one that is here.
func TestACopyThatHasComeFurtherTakesThePlaceOfTheOneThatIsHere(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.notes, s.sent = nil, nil
	commit := s.acknowledged(guardedBy(born(1, 1000), 1, 2), 1)
	s.wantNotes(wander.NoteOvertaken)
	s.wantTold(guardian.KindKnown, 5, 4)
	s.receive(commit)
	s.wantNotes(wander.NoteArrived)
	s.wantState("running")
	s.wantTrail(1, 2)
	s.wantRuns(1)
}

// Perhaps no other member hears the holder of the lower copy. It discards that copy when it is offered the other one,
// not only when that one arrives.
func TestAHolderThatIsOfferedAHigherCopyDiscardsItsOwn(t *testing.T) {
	s := inGuardedFleet(t)
	s.ran(born(1, 10))
	s.arrive(guardedBy(born(1, 20), 5, 4), 5)
	s.wantState("resting")
	s.notes = nil
	token := guardedBy(born(1, 15), 1, 2)
	offer := wire.Message{
		Gate: 7, Kind: handoff.KindToken, From: id(2), To: self, Exchange: 77, Token: token.Ref, Load: token.Load,
	}
	s.receive(offer)
	s.wantState("resting")
	offer.Exchange, offer.Token.Seq = 78, 1000
	s.receive(offer)
	s.wantNotes(wander.NoteOvertaken)
	s.wantState("absent")
}

// From then on it keeps no lower copy, and corrects the holder of one.
func TestAMemberThatIsOfferedAHigherCopyKeepsNoLowerOne(t *testing.T) {
	s := inGuardedFleet(t)
	s.ran(born(1, 10))
	s.keeps(born(1, 20))
	s.revive()
	s.receive(s.offerIn(guardedBy(born(1, 1<<40), 2, 4), 2))
	s.sent = nil
	s.receive(word(guardian.KindHeartbeat, 1, guardedBy(born(1, 22), 3, 2)))
	s.wantTold(guardian.KindKnown, 1)
}

func TestAHolderOfAnOvertakenCopyDiscardsIt(t *testing.T) {
	for state, scenario := range map[string]func(s *scenario){
		"resting":  func(s *scenario) { s.ran(born(1, 10)); s.arrive(guardedBy(born(1, 20), 5, 4), 5) },
		"offering": func(s *scenario) { s.arrive(guardedBy(born(1, 10), 5, 4), 5); s.finish() },
	} {
		t.Run(state, func(t *testing.T) {
			s := inGuardedFleet(t)
			scenario(s)
			s.wantState(state)
			offers := len(s.sent)
			s.notes = nil
			s.receive(word(guardian.KindHeartbeat, 2, born(1, 1000)))
			s.wantNotes(wander.NoteOvertaken)
			s.wantState("absent")
			if told := s.sent[offers:]; len(told) != 2 || told[0].Kind != guardian.KindKnown ||
				told[1].Kind != guardian.KindKnown {
				t.Errorf("it sends %v", told)
			}
			if state == "offering" {
				offer := s.sent[offers-1]
				s.receive(handoff.Reply(&offer, handoff.KindAck, 77))
				s.wantNotes(handoff.NoteStrayAck)
			}
			s.advance(10 * patience)
			s.wantState("absent")
		})
	}
}

// A run whose token another member holds, too, ends by itself or is stopped, as the operator has chosen.
func TestARunThatIsOvertakenFinishesOrIsStopped(t *testing.T) {
	for onLost, stops := range map[soft.OnLost]int{soft.Finish: 0, soft.Stop: 1} {
		t.Run(onLost.String(), func(t *testing.T) {
			cfg := withBackups(2)
			cfg.OnLost = onLost
			s := begin(t, cfg, policy.State{})
			s.fleet(1, 2, 3, 4, 5)
			s.arrive(born(1, 10), 5)
			s.receive(word(guardian.KindHeartbeat, 2, born(1, 1000)))
			s.receive(word(guardian.KindHeartbeat, 2, born(1, 2000)))
			if s.stops != stops {
				t.Errorf("it is stopped %d times", s.stops)
			}
			s.wantState("running")
			if s.m.Detail(s.now.Time).Holding {
				t.Error("it holds the token")
			}
			s.finish()
			s.wantState("absent")
		})
	}
}

func TestOnLostHasAName(t *testing.T) {
	if got := fmt.Sprint(soft.Finish, soft.Stop, soft.OnLost(9)); got != "finish stop OnLost(9)" {
		t.Error(got)
	}
}

// A tombstone is about all copies with the number of the removed one, or a lower one: a member that holds such a copy
// discards it, and tells its guardians.
func TestAHolderOfARemovedCopyDiscardsIt(t *testing.T) {
	for state, scenario := range map[string]func(s *scenario){
		"resting":  func(s *scenario) { s.ran(born(1, 10)); s.arrive(guardedBy(born(1, 20), 5, 4), 5) },
		"offering": func(s *scenario) { s.arrive(guardedBy(born(1, 20), 5, 4), 5); s.finish() },
		"running":  func(s *scenario) { s.arrive(guardedBy(born(1, 20), 5, 4), 5) },
	} {
		for more, discards := range map[int]bool{-1: false, 0: true, 1000: true} {
			t.Run(fmt.Sprint(state, more), func(t *testing.T) {
				s := inGuardedFleet(t)
				scenario(s)
				s.wantState(state)
				removed := guardedBy(born(1, 0), 5, 4)
				removed.Seq = wire.Seq(int(s.m.Detail(s.now.Time).Token.Seq) + more)
				s.notes, s.sent = nil, nil
				s.receive(word(guardian.KindTombstone, 2, removed))
				if got := s.m.Detail(s.now.Time).Holding; got == discards {
					t.Fatalf("it holds the token: %v; %v", got, names(s.notes))
				}
				if discards {
					s.wantTold(guardian.KindTombstone, 5, 4)
				}
			})
		}
	}
}
