package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// One test for each sentence of the paper (Ciuffoletti, sections 3 to 5) about what a member does with a token. The
// rules are numbered as in the package's design: 1 identity, 2 removal, 3 resting, 4 running, 5 regeneration, 6
// meeting, 7 a member alone.

// Rule 1. "The token consists of the identifier of the host that generated it, of a Unix timestamp corresponding to the
// generation time, and of a random id" (section 4); they never change while it lives.
func TestATokenKeepsItsIdentity(t *testing.T) {
	s := inFleet(t)
	token := born(1, 10)
	s.arrive(token, 1)
	s.finish()
	if passed, _ := s.ack(); passed.ID != token.ID {
		t.Errorf("%+v became %+v", token.ID, passed.ID)
	}
}

// Rule 1. A new token is stamped with the wall clock of the member that makes it.
func TestANewTokenHasAnIdentityOfItsOwn(t *testing.T) {
	s := inFleet(t)
	s.advance(maxInterval)
	first := s.lastSent(handoff.KindToken).Token.ID
	if first.Generator != self || first.Birth != s.now.Wall {
		t.Errorf("at %d a token is born as %+v", s.now.Wall, first)
	}
	s.ack()
	s.advance(2 * maxInterval)
	if second := s.lastSent(handoff.KindToken).Token.ID; second.Random == first.Random {
		t.Errorf("two tokens have the random id %x", first.Random)
	}
}

// "Such synchronization should simply ensure that the token tg, generated in response to a timeout for a token tx, has
// a timestamp larger than tx" (section 5.2): also at a member whose clock is an hour slow.
func TestANewTokenIsYoungerThanAnySeen(t *testing.T) {
	s := inFleet(t)
	ahead := born(7200, 10)
	ahead.ID.Birth += int64(2 * maxInterval)
	s.ran(ahead)
	s.advance(maxInterval)
	if got := s.lastSent(handoff.KindToken).Token.ID; !ahead.ID.Precedes(got) {
		t.Errorf("the new token %+v precedes the lost one %+v", got, ahead.ID)
	}
}

// The same after a restart.
func TestANewTokenIsYoungerThanTheOneOfAnEarlierLife(t *testing.T) {
	last := born(7200, 0).ID
	s := begin(t, config(), policy.State{HasRun: true, LastRun: 0, Memo: soft.Memo{Token: last}.Bytes(), Seq: 10})
	s.view(3, 4)
	s.advance(3 * timeout)
	if got := s.m.Detail(s.now.Time).Token.ID; !last.Precedes(got) {
		t.Errorf("the new token %+v precedes the last one %+v", got, last)
	}
}

// Rule 2. "the component discards a token t when it has been enabled from less than Δmin time units by another token
// preceding t."
func TestATokenIsRemovedAfterARunUnderOneThatPrecedesIt(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10)) // the run began op ago
	s.advance(minInterval - op - 1)
	s.arrive(born(2, 20), 2)
	s.wantNotes(wander.NoteArrived, wander.NoteRemoved)
	s.wantState("absent")
	s.wantRuns(1)
}

// Rule 2, the other side of each of its conditions.
func TestATokenIsNotRemoved(t *testing.T) {
	for _, tc := range []struct {
		name  string
		ran   bool
		after time.Duration
		token guardian.Token
		want  []policy.Note
	}{
		{"from a member that never ran", false, 0, born(2, 20), []policy.Note{wander.NoteArrived, wander.NoteRan}},
		{
			"when min_interval is over", true, minInterval - op, born(2, 20),
			[]policy.Note{wander.NoteArrived, wander.NoteRan},
		},
		{
			"if it is the one it ran under", true, skip, born(1, 20),
			[]policy.Note{wander.NoteArrived, wander.NoteResting},
		},
		{
			"if it precedes the one it ran under", true, skip, born(0, 5),
			[]policy.Note{wander.NoteArrived, wander.NoteResting},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := inFleet(t)
			if tc.ran {
				s.ran(born(1, 10))
			}
			s.advance(tc.after)
			s.arrive(tc.token, 2)
			s.wantNotes(tc.want...)
			s.wantHeld(tc.token.ID)
		})
	}
}

// Rule 2. What counts is the run, not the last token that was here: figure 2 has lasttoken, the prose of section 5
// "enabled".
func TestATokenThatOnlyRestedRemovesNothing(t *testing.T) {
	s := inFleet(t)
	s.ran(born(5, 10))
	s.arrive(born(1, 20), 2)
	s.advance(skip)
	s.ack()
	s.notes = nil
	s.arrive(born(3, 30), 4)
	s.wantNotes(wander.NoteArrived, wander.NoteResting)
}

// Rule 2. "Precedence is based firstly on the timestamp included in the token, and next on the generator identifier",
// and last on the random id.
func TestPrecedenceIsBirthThenGeneratorThenRandomID(t *testing.T) {
	older := wire.TokenID{Birth: noon, Generator: id(50), Random: 50}
	for name, younger := range map[string]wire.TokenID{
		"birth":     {Birth: noon + 1, Generator: id(1), Random: 1},
		"generator": {Birth: noon, Generator: id(51), Random: 1},
		"random id": {Birth: noon, Generator: id(50), Random: 51},
	} {
		t.Run(name, func(t *testing.T) {
			s := inFleet(t)
			s.ran(guardian.Token{Ref: wire.Ref{ID: older, Seq: 1}})
			s.arrive(guardian.Token{Ref: wire.Ref{ID: younger, Seq: 2}}, 2)
			s.wantNotes(wander.NoteArrived, wander.NoteRemoved)

			s = inFleet(t)
			s.ran(guardian.Token{Ref: wire.Ref{ID: younger, Seq: 1}})
			s.arrive(guardian.Token{Ref: wire.Ref{ID: older, Seq: 2}}, 2)
			s.wantNotes(wander.NoteArrived, wander.NoteResting)
		})
	}
}

// Rule 3. "Δskip the minimum latency of a token inside a component: this is the time a token will stay in a component
// if the protected operation is not needed" (section 3).
func TestATokenRestsForSkipWhereItIsNotNeeded(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.advance(time.Minute)
	s.arrive(born(1, 20), 2)
	s.wantState("resting")
	s.advance(skip - 1)
	s.wantState("resting")
	s.advance(1)
	s.wantState("offering")
	s.wantNotes(wander.NoteArrived, wander.NoteResting, handoff.NoteOffered)
	s.wantRuns(1)
}

// Rule 4. "receiving the token, performing the protected operation only in case the component performed the protected
// operation more than Δmin time units ago, and finally passing the token to another component".
func TestADueMemberRunsAndPassesTheTokenOn(t *testing.T) {
	s := inFleet(t)
	for round := range 3 {
		s.arrive(born(1, wire.Seq(10*round+10)), 1)
		s.wantNotes(wander.NoteArrived, wander.NoteRan)
		s.wantRuns(round + 1)
		s.advance(op)
		s.wantState("running")
		s.finish()
		s.wantState("offering")
		if _, to := s.ack(); to == self {
			t.Fatal("the token is passed to the one who has it")
		}
		s.wantNotes(handoff.NoteOffered, handoff.NotePassed)
		s.advance(minInterval - op)
	}
}

// "Δmin the minimum time between two successive protected operations on the same component" (section 3).
func TestNoRunBeforeMinIntervalIsOver(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.advance(minInterval - op - 1)
	s.arrive(born(1, 20), 2)
	s.wantState("resting")
	s.wantRuns(1)
}

// A run may outlast min_interval. Its end passes the token on all the same: "execute(A); send(token)" (figure 2).
func TestALongRunIsNotFollowedByAnotherAtOnce(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(1, 10), 1)
	s.advance(2 * minInterval)
	s.finish()
	s.wantState("offering")
	s.wantRuns(1)
}

// Rule 5. "The token generation rule […] consists in generating a new token when a component does not receive one
// within a timeout Δmax from the last token", and "select(receive(token), Δgen) […] token = {timestamp = localclock, id
// = newid()}; send(token)" (figure 2): the maker does not run under it first.
func TestASilenceMakesANewTokenThatIsSentOnAtOnce(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.advance(maxInterval - 1)
	s.wantNotes()
	s.wantState("absent")
	s.advance(1)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
	s.wantState("offering")
	s.wantRuns(1)
}

// Rule 5. "within a timeout Δmax from the last token": of each token, also one that is removed.
func TestEveryTokenEndsTheSilence(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.advance(minInterval / 2)
	s.arrive(born(2, 20), 2)
	s.wantNotes(wander.NoteArrived, wander.NoteRemoved)
	s.advance(maxInterval - 1)
	s.wantNotes()
	s.advance(1)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
}

// Rule 5. "incrementing Δgen at a constant rate (50% in our simulation) each time the component needs to regenerate a
// new token, and decrementing of a small fraction (5% in our simulation) of the difference from Δmax each time the
// component receives a token" (section 5.1).
func TestRegenerateAfterRisesByHalfAndFallsByATwentieth(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.wantRegenerateAfter(maxInterval)

	s.advance(maxInterval)
	s.wantRegenerateAfter(maxInterval * 3 / 2)
	s.ack()
	s.advance(maxInterval*3/2 - 1)
	s.wantRegenerateAfter(maxInterval * 3 / 2)
	s.advance(1)
	s.wantRegenerateAfter(maxInterval * 9 / 4)
	s.ack()

	above := maxInterval * 5 / 4
	for range 3 {
		s.arrive(born(1, 100), 1)
		above -= above / 20
		s.wantRegenerateAfter(maxInterval + above)
		if s.m.Detail(s.now.Time).Phase == "running" {
			s.finish()
		} else {
			s.advance(skip)
		}
		s.ack()
	}
	s.arrive(born(3, 100), 1) // a removed one counts as received
	s.wantRegenerateAfter(maxInterval + above - above/20)
}

// "Such rule has no effect on a component as long as it regularly receives a token and Δgen = Δmax."
func TestRegenerateAfterStaysAtMaxIntervalWhileTokensCome(t *testing.T) {
	s := inFleet(t)
	for range 100 {
		s.ran(born(1, 10))
		s.advance(minInterval)
	}
	s.wantRegenerateAfter(maxInterval)
}

// "the value of Δgen on all components that incremented it during the unstability will logarithmically tend to Δmax
// again": never below it, and after some hundred tokens there.
func TestRegenerateAfterTendsToMaxInterval(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.advance(maxInterval)
	s.ack()
	for range 600 {
		s.advance(skip)
		s.arrive(born(5, 10), 1)
		if got := s.m.Detail(s.now.Time).RegenerateAfter; got < maxInterval {
			t.Fatalf("regenerate-after fell to %v", got)
		}
		if st := s.m.Detail(s.now.Time); st.Holding {
			s.advance(skip)
			s.finish()
			s.ack()
		}
	}
	if got := s.m.Detail(s.now.Time).RegenerateAfter; got > maxInterval+time.Microsecond {
		t.Errorf("regenerate-after is still %v", got)
	}
}

// "For convenience, they are set to Δskip: they should neither be much shorter than this" (section 4), and at least a
// quarter of a second, however short skip is.
func TestAHandoffWaitsForSkipAndAQuarterOfASecondAtLeast(t *testing.T) {
	for skip, want := range map[time.Duration]time.Duration{
		0:                time.Second / 4,
		time.Millisecond: time.Second / 4,
		time.Second / 4:  time.Second / 4,
		time.Second / 3:  time.Second / 3,
		time.Minute:      time.Minute,
	} {
		cfg := config()
		cfg.Skip = skip
		s := begin(t, cfg, policy.State{})
		s.fleet(3, 4)
		s.arrive(born(1, 10), 4)
		s.finish()
		s.notes = nil
		s.advance(want - 1)
		s.wantNotes()
		s.advance(1)
		s.wantNotes(handoff.NoteNoAck, handoff.NoteOffered)
	}
}

// "Δmax 1800 = 3 ∗ Δmin" (table 2), and never below 3 × members × Δop: "when the size of the membership N is
// significantly near the rate Δmax/Δop, the system shows instability when the token is lost" (section 5.1).
func TestMaxIntervalFollowsTheMembership(t *testing.T) {
	members := func(n int) []int {
		ids := []int{3}
		for i := 101; len(ids) < n; i++ {
			ids = append(ids, i)
		}
		return ids
	}
	for n, want := range map[int]time.Duration{
		1:   maxInterval,
		149: maxInterval,
		150: maxInterval,
		151: 3 * 151 * op,
		155: 3 * 155 * op,
	} {
		s := begin(t, config(), policy.State{})
		s.view(members(n)...)
		if st := s.m.Detail(s.now.Time); st.MaxInterval != want || st.RegenerateAfter != want {
			t.Errorf("%d members: max_interval %v, regenerate-after %v, want %v", n, st.MaxInterval, st.RegenerateAfter,
				want)
		}
	}

	cfg := config()
	cfg.MaxInterval = time.Hour
	s := begin(t, cfg, policy.State{})
	s.view(members(155)...)
	if got := s.m.Detail(s.now.Time).MaxInterval; got != time.Hour {
		t.Errorf("the operator's max_interval became %v", got)
	}
}

// Rule 6, which the paper does not have. A token that arrives while another is held: the older survives, the younger is
// discarded at once.
func TestOfTwoTokensThatMeetTheOlderSurvives(t *testing.T) {
	held := born(10, 50)
	older, younger := born(5, 20), born(15, 80)
	hold := map[string]func(s *scenario){
		"running": func(s *scenario) { s.arrive(held, 1) },
		"resting": func(s *scenario) {
			s.ran(born(10, 1))
			s.arrive(held, 1)
		},
		"offering": func(s *scenario) {
			s.arrive(held, 1)
			s.finish()
		},
	}
	for state, scenario := range hold {
		t.Run("the held one, "+state, func(t *testing.T) {
			s := inFleet(t)
			scenario(s)
			s.wantState(state)
			s.notes = nil
			s.arrive(younger, 4)
			s.wantNotes(wander.NoteArrived, wander.NoteMet)
			s.wantHeld(held.ID)
			s.wantState(state)
		})
		t.Run("the one that arrives, "+state, func(t *testing.T) {
			s := inFleet(t)
			scenario(s)
			runs := len(s.runs)
			s.arrive(older, 4)
			s.wantHeld(older.ID)
			if s.notes[len(s.notes)-1] == wander.NoteMet && state != "running" {
				t.Error("nothing is done with the older one")
			}
			s.wantRuns(runs)
		})
	}
}

// Rule 6. An offer of the younger token is withdrawn: no member may get it any more.
func TestAnOfferOfTheYoungerTokenIsWithdrawn(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(10, 50), 1)
	s.finish()
	offer := *s.lastSent(handoff.KindToken)
	s.arrive(born(5, 20), 4)
	s.notes = nil
	s.receive(handoff.Reply(&offer, handoff.KindAck, 77))
	s.wantNotes(handoff.NoteStrayAck)
	s.wantState("resting")
}

// Rule 6 at a busy member. The run goes on. From now on it is under the older token, for the removal rule too, also
// after a restart, and the older token is passed on.
func TestARunGoesOnUnderTheOlderToken(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(10, 50), 1)
	s.arrive(born(5, 20), 4)
	s.wantState("running")
	s.wantRuns(1)
	if soft.MemoOf(&s.saved.Memo).Token != born(5, 0).ID || !s.saved.HasRun {
		t.Errorf("saved is %+v", s.saved)
	}
	s.finish()
	if passed, _ := s.ack(); passed.ID != born(5, 0).ID || passed.Seq <= 50 {
		t.Errorf("%+v is passed on", passed)
	}
	s.notes = nil
	s.arrive(born(7, 90), 2)
	s.wantNotes(wander.NoteArrived, wander.NoteRemoved)
}

// Rule 7. A member alone in its gate keeps the token and runs every min_interval.
func TestAMemberAloneRunsEveryMinInterval(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.view(3)
	s.wantNotes(wander.NoteCreated, wander.NoteRan)
	for round := range 5 {
		s.advance(op)
		s.finish()
		s.wantNotes(wander.NoteAlone, wander.NoteResting)
		s.wantState("resting")
		s.advance(minInterval - op - 1)
		s.wantRuns(round + 1)
		s.advance(1)
		s.wantRuns(round + 2)
		s.wantNotes(wander.NoteRan)
	}
	if len(s.sent) != 0 {
		t.Errorf("it sent %v", s.sent)
	}
}

// Rule 7. It notices when others come: the token is on its way within skip.
func TestAMemberAloneNoticesWhenOthersCome(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.view(3)
	s.finish()
	s.advance(time.Minute)
	s.view(3, 4)
	s.advance(skip / 2)
	s.view(3, 4, 5) // one more coming does not keep it longer
	s.advance(skip/2 - 1)
	s.wantState("resting")
	s.advance(1)
	s.wantState("offering")
}

// Rule 7, if the others go away: in each state that holds the token.
func TestAMemberThatIsLeftAloneKeepsTheToken(t *testing.T) {
	for state, scenario := range map[string]func(s *scenario){
		"running":  func(s *scenario) { s.arrive(born(1, 10), 1) },
		"resting":  func(s *scenario) { s.ran(born(1, 10)); s.arrive(born(1, 20), 1) },
		"offering": func(s *scenario) { s.arrive(born(1, 10), 1); s.finish() },
	} {
		t.Run(state, func(t *testing.T) {
			s := inFleet(t)
			scenario(s)
			s.wantState(state)
			s.view(3)
			runs := len(s.runs)
			if state == "running" {
				s.finish()
			}
			s.advance(minInterval)
			s.wantRuns(runs + 1)
			s.wantHeld(born(1, 0).ID)
		})
	}
}
