package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// linger is how long a member that has committed stays to repeat the Commit.
const linger = 2 * timeout

func TestALeavingMemberWithoutATokenIsGoneAtOnce(t *testing.T) {
	s := inFleet(t)
	s.leave()
	s.wantNotes(wander.NoteLeft)
	s.wantState("gone")
}

func TestALeavingMemberHandsItsTokenOn(t *testing.T) {
	for state, scenario := range map[string]func(s *scenario){
		"running":  func(s *scenario) { s.arrive(born(1, 10), 1) },
		"resting":  func(s *scenario) { s.ran(born(1, 10)); s.arrive(born(1, 20), 1) },
		"offering": func(s *scenario) { s.arrive(born(1, 10), 1); s.finish() },
	} {
		t.Run(state, func(t *testing.T) {
			s := inFleet(t)
			scenario(s)
			s.wantState(state)
			s.leave()
			s.leave() // said twice, done once
			if state == "running" {
				if s.stops != 1 {
					t.Errorf("the run is stopped %d times", s.stops)
				}
				s.wantState("running")
				s.finish()
			}
			s.wantState("offering")
			token, to := s.ack()
			if token.ID != born(1, 0).ID || to == self {
				t.Errorf("it hands %+v on to %v", token, to)
			}
			s.advance(linger - 1)
			s.wantState("absent")
			s.advance(1)
			s.wantState("gone")
		})
	}
}

// The last Commit may be lost: until its time is over, a repeated Ack gets it again.
func TestALeavingMemberStaysToRepeatItsCommit(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(1, 10), 1)
	s.finish()
	ack := handoff.Reply(s.lastSent(handoff.KindToken), handoff.KindAck, 77)
	s.receive(ack)
	s.leave()
	s.advance(linger - 1)
	s.receive(ack)
	s.lastSent(handoff.KindCommit)
}

func TestALeavingMemberTriesOthersUntilOneTakesItsToken(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(1, 10), 1)
	s.leave()
	s.finish()
	first := s.lastSent(handoff.KindToken).To
	s.advance(timeout)
	s.wantState("offering")
	if second := s.lastSent(handoff.KindToken).To; second == first {
		t.Error("it tries the same one again")
	}
}

// The members that are offered the token first may have left at the same moment, and so may its guardians. So a leaving
// member does not wait for long for one of them, and gives the token up only after several offers.
func TestALeavingMemberThatNobodyAnswersOffersOn(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 1)
	s.leave()
	s.finish()
	s.advance(3 * timeout)
	offered := map[wire.MemberID]bool{}
	for i := range s.sent {
		if m := &s.sent[i]; m.Kind == handoff.KindToken {
			offered[m.To] = true
		}
	}
	if len(offered) < 3 {
		t.Errorf("within three timeouts it has offered the token to %d others", len(offered))
	}
	s.advance(10 * timeout)
	if n := len(s.notes); s.notes[n-2] != wander.NoteYielded || s.notes[n-1] != wander.NoteLeft {
		t.Errorf("it notes %v", names(s.notes))
	}
}

func TestALeavingMemberWithNobodyThereDropsItsToken(t *testing.T) {
	for state, scenario := range map[string]func(s *scenario){
		"running":  func(s *scenario) { s.leave(); s.finish() },
		"resting":  func(s *scenario) { s.finish(); s.leave() },
		"offering": func(s *scenario) { s.view(3, 4); s.finish(); s.view(3); s.leave(); s.advance(timeout) },
	} {
		t.Run(state, func(t *testing.T) {
			s := begin(t, config(), policy.State{})
			s.view(3)
			scenario(s)
			if n := len(s.notes); s.notes[n-2] != wander.NoteDropped || s.notes[n-1] != wander.NoteLeft {
				t.Errorf("it notes %v", names(s.notes))
			}
			s.wantState("gone")
		})
	}
}

func TestALeavingMemberTakesNoNewToken(t *testing.T) {
	s := inFleet(t)
	s.leave()
	s.notes = nil
	s.receive(s.offerIn(born(1, 10), 1))
	s.wantNotes(handoff.NoteStrayToken)
	if len(s.sent) != 0 {
		t.Errorf("it sent %v", s.sent)
	}
}

// A token that it has acknowledged may arrive all the same, and goes on without a run.
func TestALeavingMemberPassesOnATokenThatWasArriving(t *testing.T) {
	s := inFleet(t)
	commit := s.acknowledged(born(1, 10), 1)
	s.leave()
	s.wantState("absent")
	s.receive(commit)
	s.wantState("offering")
	s.wantRuns(0)
	s.ack()
	s.advance(linger)
	s.wantState("gone")
}

// A Commit that never comes, and Tokens played back, keep it no longer than two timeouts.
func TestALeavingMemberDoesNotWaitForATokenForEver(t *testing.T) {
	s := inFleet(t)
	offer := s.offerIn(born(1, 10), 1)
	s.receive(offer)
	s.leave()
	for range 8 {
		s.advance(timeout / 4)
		s.receive(offer)
	}
	s.wantState("gone")
}

func TestALeavingMemberMakesNoToken(t *testing.T) {
	t.Run("when its view changes", func(t *testing.T) {
		s := begin(t, config(), policy.State{})
		s.view(3, 4)
		s.receive(s.offerIn(born(1, 10), 4)) // this keeps it from being gone at once
		s.leave()
		s.view(3, 4, 5)
		s.view(3)
		s.advance(2 * maxInterval)
		s.wantNotes(handoff.NoteNoCommit, wander.NoteLeft)
	})
	t.Run("when its turn comes", func(t *testing.T) {
		s := begin(t, config(), policy.State{})
		s.view(3, 4)
		s.advance(3*timeout - 1)
		s.acknowledged(born(1, 10), 4)
		s.leave()
		s.advance(4 * timeout) // it has never had a Commit, and does not know how long one takes
		s.wantNotes(handoff.NoteNoCommit, wander.NoteLeft)
	})
	t.Run("when it sees that it is alone", func(t *testing.T) {
		s := begin(t, config(), policy.State{})
		s.receive(s.offerIn(born(1, 10), 4))
		s.leave()
		s.view(3)
		s.wantNotes()
	})
	t.Run("after a silence", func(t *testing.T) {
		s := inFleet(t)
		s.ran(born(1, 10))
		s.advance(maxInterval - timeout)
		s.acknowledged(born(1, 10), 4)
		s.leave()
		s.advance(maxInterval)
		s.wantNotes(handoff.NoteNoCommit, wander.NoteLeft)
	})
}

func TestAMemberThatIsGoneDoesNothing(t *testing.T) {
	s := inFleet(t)
	s.leave()
	s.notes, s.sent = nil, nil
	s.view(1, 2, 3)
	s.view(3)
	s.finish()
	s.sleep(time.Hour)
	s.advance(10 * maxInterval)
	s.leave()
	s.wantNotes()
	s.wantState("gone")
	if at, ok := s.m.NextWake(); ok {
		t.Errorf("it asks to be woken at %v", at)
	}
}

// A host that was asleep gives up its token first of all: the others may have made a new one.
func TestASuspendedMemberGivesItsTokenUp(t *testing.T) {
	for state, scenario := range map[string]func(s *scenario){
		"resting":  func(s *scenario) { s.ran(born(1, 10)); s.arrive(born(1, 20), 1) },
		"offering": func(s *scenario) { s.arrive(born(1, 10), 1); s.finish() },
	} {
		t.Run(state, func(t *testing.T) {
			s := inFleet(t)
			scenario(s)
			s.wantState(state)
			s.notes = nil
			s.sleep(time.Minute)
			s.wantNotes(wander.NoteGaveUp)
			s.wantState("absent")
			if st := s.m.Detail(s.now.Time); st.Holding {
				t.Error("it holds the token")
			}
		})
	}
}

// The copy that it has given up may be one that it revived where no other member heard it: the copy that the others
// have is then the only one.
func TestACopyThatWasGivenUpOvertakesNone(t *testing.T) {
	s := inGuardedFleet(t)
	s.ran(born(1, 10))
	s.keeps(born(1, 20))
	s.revive()
	s.sleep(time.Minute)
	s.notes = nil
	s.arrive(guardedBy(born(1, 22), 5, 4), 5)
	s.wantNotes(wander.NoteArrived, wander.NoteResting)
	s.wantHeld(born(1, 0).ID)
}

func TestASuspendedOfferIsNeverCommitted(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(1, 10), 1)
	s.finish()
	offer := *s.lastSent(handoff.KindToken)
	s.sleep(time.Second / 2)
	s.notes = nil
	s.receive(handoff.Reply(&offer, handoff.KindAck, 77))
	s.wantNotes(handoff.NoteStrayAck)
}

// A run that also slept is left to end, without the token. When it ends, the member is absent, or passes on a token
// that has arrived in the meantime.
func TestASuspendedRunGoesOnWithoutTheToken(t *testing.T) {
	asleepInRun := func(t *testing.T) *scenario {
		s := inFleet(t)
		s.arrive(born(1, 10), 1)
		s.notes = nil
		s.sleep(time.Minute)
		s.wantNotes(wander.NoteGaveUp)
		s.sleep(time.Minute) // twice is no different
		s.wantNotes()
		s.wantState("running")
		if s.stops != 0 {
			t.Error("the run is stopped")
		}
		return s
	}
	t.Run("and nothing arrives", func(t *testing.T) {
		s := asleepInRun(t)
		s.finish()
		s.wantState("absent")
	})
	t.Run("and an older token arrives", func(t *testing.T) {
		s := asleepInRun(t)
		s.arrive(born(0, 20), 2)
		s.wantState("running")
		s.wantHeld(born(0, 0).ID)
		s.finish()
		s.wantState("offering")
		s.wantRuns(1)
	})
	t.Run("and a younger token arrives", func(t *testing.T) {
		s := asleepInRun(t)
		s.arrive(born(2, 20), 2)
		s.wantNotes(wander.NoteArrived, wander.NoteRemoved)
		s.wantState("running")
	})
}

func TestATokenThatWasArrivingBeforeTheSuspensionDoesNotArrive(t *testing.T) {
	s := inFleet(t)
	commit := s.acknowledged(born(1, 10), 1)
	s.sleep(time.Second / 2)
	s.wantNotes(handoff.NoteNoCommit)
	s.receive(commit)
	s.wantNotes(handoff.NoteStrayCommit)
	s.wantState("absent")
}

// The time that the member slept is no silence of the token; the silence before that still is.
func TestTimeSleptIsNoSilence(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.advance(maxInterval / 2)
	for range 3 {
		s.sleep(maxInterval)
		s.advance(0)
		s.wantNotes()
	}
	s.advance(maxInterval/2 - 1)
	s.wantNotes()
	s.advance(1)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
}

// However long the shell reports that the host slept, the silence begins now at the latest.
func TestTheSilenceBeginsNowAtTheLatest(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.step(policy.Event{Kind: policy.Suspended, Slept: 1<<63 - 1})
	s.advance(maxInterval - 1)
	s.wantNotes()
	s.advance(1)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
}

func TestTimeSleptIsNoTurnToCreate(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.view(2, 3, 4)
	s.advance(10 * timeout)
	s.sleep(time.Hour)
	s.advance(11*timeout - 1)
	s.wantNotes()
	s.advance(1)
	s.wantNotes(wander.NoteInquired)
}

// A member alone keeps its token: no other could have made one.
func TestASuspendedMemberAloneKeepsItsToken(t *testing.T) {
	for state, scenario := range map[string]func(s *scenario){
		"running":  func(*scenario) {},
		"resting":  func(s *scenario) { s.finish() },
		"offering": func(s *scenario) { s.view(3, 4); s.finish(); s.view(3) },
	} {
		t.Run(state, func(t *testing.T) {
			s := begin(t, config(), policy.State{})
			s.view(3)
			scenario(s)
			s.wantState(state)
			held := s.m.Detail(s.now.Time).Token.ID
			s.sleep(time.Minute)
			s.wantHeld(held)
			if state == "running" {
				s.finish()
			}
			s.advance(minInterval)
			s.wantRuns(2)
			s.wantHeld(held)
		})
	}
}
