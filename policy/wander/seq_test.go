package wander_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// The fencing number: it rises at every handoff and at every new token. That it strictly rises over the runs of a
// member is checked by every scenario.

func TestTheNumberRisesAtEveryHandoff(t *testing.T) {
	s := inFleet(t)
	last := wire.Seq(9)
	for range 5 {
		s.arrive(born(1, last+1), 1)
		s.finish()
		s.advance(skip)
		passed, _ := s.ack()
		if passed.Seq <= last+1 {
			t.Fatalf("a token that came with %d goes with %d", last+1, passed.Seq)
		}
		last = passed.Seq
	}
}

// A token that comes with a number lower than this member has seen, for instance under another token, does not run
// under that number.
func TestNoRunIsGrantedBelowANumberThatWasSeen(t *testing.T) {
	for _, tc := range []struct {
		name string
		seq  wire.Seq // saved in an earlier life
		see  func(s *scenario)
	}{
		{"in an earlier life", 1000, func(*scenario) {}},
		{"with a token that was offered and never came", 0, func(s *scenario) {
			s.acknowledged(born(5, 1000), 2)
			s.advance(skip)
		}},
		{"with a token that was removed", 0, func(s *scenario) { s.ran(born(5, 10)); s.arrive(born(6, 1000), 2) }},
		{"with a token that met another", 0, func(s *scenario) {
			s.arrive(born(5, 10), 1)
			s.arrive(born(6, 1000), 2)
			s.finish()
			s.ack()
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := begin(t, config(), policy.State{Seq: tc.seq})
			s.fleet(1, 2, 3)
			tc.see(s)
			s.advance(minInterval)
			s.arrive(born(1, 20), 2)
			if run := s.runs[len(s.runs)-1]; run.Seq <= 1000 {
				t.Errorf("it runs under number %d", run.Seq)
			}
		})
	}
}

// A token at rest has a lower number than one that met it and is gone: it takes over that number before it is used.
func TestATokenTakesOverTheNumberOfOneThatMetIt(t *testing.T) {
	atRest := func(t *testing.T) *scenario {
		s := begin(t, config(), policy.State{})
		s.fleet(1, 2, 3)
		s.ran(born(5, 10))
		s.fleet(3)
		s.arrive(born(5, 20), 1)
		s.arrive(born(6, 1000), 2)
		s.wantNotes(wander.NoteArrived, wander.NoteAlone, wander.NoteResting, wander.NoteArrived, wander.NoteMet)
		return s
	}
	t.Run("and runs", func(t *testing.T) {
		s := atRest(t)
		s.advance(minInterval)
		s.wantRuns(2)
		if s.runs[1].Seq <= 1000 {
			t.Errorf("it runs under number %d", s.runs[1].Seq)
		}
	})
	t.Run("and goes on", func(t *testing.T) {
		s := atRest(t)
		s.fleet(1, 2, 3)
		s.advance(skip)
		if passed, _ := s.ack(); passed.Seq <= 1000 {
			t.Errorf("it goes on with number %d", passed.Seq)
		}
	})
}

// Each of the runs of a member that is alone under one token has a number of its own.
func TestEveryRunOfAMemberAloneHasANumberOfItsOwn(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.view(3)
	for range 4 {
		s.finish()
		s.advance(minInterval)
	}
	s.wantRuns(5)
	if s.runs[4].Seq != s.runs[0].Seq+4 {
		t.Errorf("five runs have the numbers %d to %d", s.runs[0].Seq, s.runs[4].Seq)
	}
}

// A new token starts above everything that the lost one can have reached by hops since it was here.
func TestANewTokenStartsInAnEpochOfItsOwn(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.advance(maxInterval)
	got := s.lastSent(handoff.KindToken).Token.Seq
	if want := wire.Seq(10).NextEpoch(); got != want {
		t.Errorf("the new token has number %d, want %d", got, want)
	}
	if s.saved.Seq < got {
		t.Errorf("saved is %d: after a crash, it would be used again", s.saved.Seq)
	}
}

// A run that continues under an older token keeps the number it was granted; the token goes on with a higher one.
func TestATokenSwappedInDuringARunGoesOnWithAHigherNumber(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(10, 50), 1)
	s.arrive(born(5, 20), 4)
	granted := s.runs[0].Seq
	s.finish()
	if passed, _ := s.ack(); passed.Seq <= granted {
		t.Errorf("granted was %d, passed on is %d", granted, passed.Seq)
	}
}

// A holder takes the number of a question, because the asker knows of a copy with that number. But an action that has
// begun with a number ends with it: an offer, and a run whose start is being saved.
func TestAQuestionRaisesTheNumberOfATokenThatIsNotInUse(t *testing.T) {
	const named = 1000
	number := func(s *scenario) wire.Seq { return s.m.Status(s.now.Time).Token.Seq }
	ask := word(guardian.KindAsk, 4, born(1, named))
	t.Run("resting", func(t *testing.T) {
		s := ranLately(t, withBackups(2), born(1, 1))
		s.arrive(born(1, 10), 1)
		s.wantState("resting")
		if s.receive(ask); number(s) != named {
			t.Errorf("it has number %d", number(s))
		}
	})
	t.Run("saving", func(t *testing.T) {
		s := inGuardedFleet(t)
		s.disk = slowDisk
		s.arrive(born(1, 10), 1)
		granted := number(s)
		s.receive(ask)
		s.saves(false)
		if ran := s.runs[0].Seq; ran != granted || ran >= named {
			t.Errorf("it runs under number %d, and %d was saved", ran, granted)
		}
	})
	t.Run("offering", func(t *testing.T) {
		s := inGuardedFleet(t)
		s.arrive(born(1, 10), 1)
		s.finish()
		offered := s.lastSent(handoff.KindToken)
		s.receive(ask)
		if number(s) != offered.Token.Seq {
			t.Errorf("it holds number %d, and offers %d", number(s), offered.Token.Seq)
		}
		s.receive(handoff.Reply(offered, handoff.KindAck, 77))
		s.wantState("absent")
	})
}

// This also holds for a token that was already here when the number was heard of.
func TestARestingTokenRunsUnderNoNumberBelowOneHeard(t *testing.T) {
	s := onDemand(t, nil)
	s.arrive(born(1, 10), 1)
	s.acknowledged(born(5, 1000), 2)
	s.wanted()
	s.wantRuns(1)
	if run := s.runs[0]; run.Seq < 1000 {
		t.Errorf("it runs under number %d", run.Seq)
	}
}
