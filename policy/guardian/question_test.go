package guardian_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// suspecting returns the circle at the moment when bob begins to ask: ann is dead, and so are others if the test says
// so.
func suspecting(t *testing.T, others ...wire.MemberID) *circle {
	t.Helper()
	c := newCircle(t)
	c.ann.dead = true
	for _, id := range others {
		c.find(id).dead = true
	}
	c.until(latency + patience)
	return c
}

func TestAQuestionIsAskedSevenTimesInHalfAPatience(t *testing.T) {
	c := suspecting(t, cydsID)
	c.advance(patience/2 - 1)
	var want []string
	for _, i := range []int{0, 2, 3, 4, 5, 6, 7} {
		at := latency + patience + time.Duration(i)*patience/16
		want = append(want, at.String()+" bob→ann Ask", at.String()+" bob→cyd Ask")
	}
	c.wantSent(want...)
	c.wantEndings(c.bob)
}

// A holder may also be in the trail, because a member that leaves is not replaced.
func TestNobodyIsAskedTwiceAtOnce(t *testing.T) {
	c := newUnaware(t)
	c.receive(message(guardian.KindHeartbeat, c.ann, c.bob, born(10, 5, bobsID, annsID)))
	c.advance(patience)
	c.wantSent("800ms bob→ann Ask")
}

func TestOnlyMembersThatHaveNotAnsweredAreAskedAgain(t *testing.T) {
	c := suspecting(t)
	c.advance(patience / 8)
	c.wantSent("801ms bob→ann Ask", "801ms bob→cyd Ask", "802ms cyd→bob Heard", "901ms bob→ann Ask")
}

func TestATokenIsRevivedWhenNobodyAnswersForHalfAPatience(t *testing.T) {
	c := suspecting(t, cydsID)
	c.advance(patience/2 - 1)
	c.wantHolders()
	c.advance(1)
	c.wantHolders(c.bob)
	c.wantEndings(c.bob, guardian.Revived)
}

func TestATokenIsRevivedAtOnceWhenAllHaveAnsweredWithNothingNewer(t *testing.T) {
	for kind, tc := range map[string]struct{ ann, cyd wire.Message }{
		"they know no more": {
			message(guardian.KindKnown, &member{id: annsID}, &member{id: bobsID}, theToken),
			message(guardian.KindKnown, &member{id: cydsID}, &member{id: bobsID}, theToken),
		},
		"they know less": {
			message(guardian.KindKnown, &member{id: annsID}, &member{id: bobsID}, since(theToken, 4)),
			message(guardian.KindHeard, &member{id: cydsID}, &member{id: bobsID}, since(theToken, 4)),
		},
		"a higher rank has not heard lately": {
			message(guardian.KindKnown, &member{id: annsID}, &member{id: bobsID}, theToken),
			message(guardian.KindHeard, &member{id: cydsID}, &member{id: bobsID}, theToken),
		},
		"an older copy was removed": {
			message(guardian.KindTombstone, &member{id: annsID}, &member{id: bobsID}, since(theToken, 4)),
			message(guardian.KindKnown, &member{id: cydsID}, &member{id: bobsID}, theToken),
		},
	} {
		t.Run(kind, func(t *testing.T) {
			c := suspecting(t, cydsID)
			c.receive(c.answering(tc.ann))
			c.wantHolders()
			c.receive(c.answering(tc.cyd))
			c.wantHolders(c.bob)
		})
	}
}

// A guardian waits after an answer that shows that the token is not lost, or that another guardian must revive it.
func TestATokenIsNotRevived(t *testing.T) {
	lately := message(guardian.KindHeard, &member{id: cydsID}, &member{id: bobsID}, theToken)
	lately.Nonce = wire.Nonce(patience - 1)
	for because, answer := range map[string]wire.Message{
		"its holder answers": message(guardian.KindHeartbeat, &member{id: annsID},
			&member{id: bobsID}, since(theToken, 5)),
		"somebody else holds it": message(guardian.KindHeartbeat, &member{id: dansID},
			&member{id: bobsID}, since(theToken, 6)),
		"another guardian has heard its holder": lately,
		"another guardian knows a higher copy": message(guardian.KindHeard, &member{id: cydsID}, &member{id: bobsID},
			since(theToken, 6)),
		"somebody knows that it has moved on": message(guardian.KindKnown, &member{id: annsID}, &member{id: bobsID},
			since(theToken, 6)),
		"it was removed": message(guardian.KindTombstone, &member{id: annsID},
			&member{id: bobsID}, theToken),
		"it was removed later": message(guardian.KindTombstone, &member{id: annsID},
			&member{id: bobsID}, since(theToken, 6)),
	} {
		t.Run(because, func(t *testing.T) {
			c := suspecting(t, cydsID)
			if answer.Kind != guardian.KindHeartbeat {
				answer = c.answering(answer)
			} else {
				answer.Nonce = 99
			}
			c.receive(answer)
			c.advance(patience - 1)
			c.wantEndings(c.bob)
			c.wantHolders()
		})
	}
}

// An answer to another question, of a member that was not asked, or of one that has answered, does not count.
func TestAnAnswerBelongsToItsQuestion(t *testing.T) {
	c := suspecting(t, cydsID)
	known := c.answering(message(guardian.KindKnown, c.ann, c.bob, theToken))
	for name, forge := range map[string]func(m *wire.Message){
		"another question": func(m *wire.Message) { m.Exchange++ },
		"nobody's":         func(m *wire.Message) { m.Exchange = 0 },
		"another sender":   func(m *wire.Message) { m.From = dansID },
		"another token":    func(m *wire.Message) { m.Token.ID.Random++ },
	} {
		stray := known
		forge(&stray)
		c.bob.notes = nil
		c.receive(stray)
		if len(c.bob.notes) != 1 {
			t.Errorf("%s: it is taken for an answer", name)
		}
	}
	c.receive(known)
	c.bob.notes = nil
	c.receive(known)
	c.wantNotes(c.bob, guardian.NoteStrayWord)
	c.wantHolders()
}

// This holds also just before the revival.
func TestAQuestionEndsWhenTheTokenComes(t *testing.T) {
	c := suspecting(t, cydsID)
	c.hold(c.bob, born(10, 6))
	c.sent = nil
	c.advance(patience)
	c.wantSent()
	c.wantEndings(c.bob)
}

// The first in the trail revives the token. The others wait half a patience for each rank before them, and then for its
// heartbeat.
func TestTheFirstInTheTrailRevivesTheToken(t *testing.T) {
	c := newCircle(t)
	c.ann.dead = true
	c.advance(10 * patience)
	c.wantHolders(c.bob)
	c.wantEndings(c.cyd)
}

func TestEachRankWaitsHalfAPatienceLonger(t *testing.T) {
	c := newUnaware(t)
	c.hold(c.ann, born(10, 5, bobsID, cydsID, dansID))
	c.advance(latency)
	c.ann.dead, c.bob.dead, c.cyd.away = true, true, true
	c.until(latency + patience*2 - 1)
	c.wantNotes(c.dan)
	c.until(latency + patience*2)
	c.wantNotes(c.dan, guardian.NoteSuspected)
	c.until(latency + patience*5/2)
	c.wantHolders(c.dan)
}

func TestTheNextRankRevivesTheTokenWhenTheFirstIsDead(t *testing.T) {
	c := newCircle(t)
	c.ann.dead, c.bob.dead = true, true
	c.until(latency + patience*2 - 1)
	c.wantHolders()
	c.until(latency + patience*2)
	c.wantHolders(c.cyd)
}

// While the guardian before it lives and answers, the next one waits.
func TestTheNextRankWaitsForALiveOneBeforeIt(t *testing.T) {
	c := newCircle(t)
	c.ann.dead, c.bob.away = true, true
	c.until(latency + patience*3/2)
	for range 3 {
		c.wantNotes(c.cyd, guardian.NoteSuspected)
		c.receive(c.answering(message(guardian.KindHeard, c.bob, c.cyd, theToken)))
		c.air = nil
		c.advance(patience - 1)
		c.wantNotes(c.cyd)
		c.advance(1)
	}
	c.advance(patience / 2)
	c.wantHolders(c.cyd)
}

// The holder has changed the order of its guardians and died, and one guardian has missed the change. Each believes
// that the other is before it.
func TestTwoGuardiansThatDisagreeOnTheirRanksDoNotWaitForEachOther(t *testing.T) {
	c := newCircle(t)
	c.ann.dead = true
	c.hold(c.ann, born(10, 5, cydsID, bobsID))
	c.air = c.air[1:] // cyd's heartbeat
	c.advance(4 * patience)
	holders := 0
	for _, m := range []*member{c.bob, c.cyd} {
		if m.holds {
			holders++
		}
	}
	if holders == 0 {
		t.Error("nobody has revived the token")
	}
	c.advance(patience)
	if c.bob.holds == c.cyd.holds {
		t.Error("both hold it for ever")
	}
}

// A Commit is lost for good. The other guardian knows only from the question that the token has moved on: it has not
// heard the new holder, and does not claim that it has.
func TestASightingDoesNotShowThatTheHolderLives(t *testing.T) {
	c := newCircle(t)
	c.giveUp(c.ann, dansID)
	passed := c.now
	c.advance(patience - 1)
	c.wantHolders()
	c.advance(2*latency + 1)
	c.wantHolders(c.ann)
	if took := c.now.Sub(passed); took != patience+2*latency {
		t.Errorf("it took %v", took)
	}
}

// The new holder has chosen other guardians. A guardian that knows of its copy only by a sighting learns this from one
// that has heard it.
func TestAGuardianBySightingStandsDownWhenTheHolderHasChosenOthers(t *testing.T) {
	for _, kind := range []wire.Kind{guardian.KindHeard, guardian.KindKnown} {
		t.Run(nameOf(kind), func(t *testing.T) {
			c := newUnaware(t)
			c.receive(message(guardian.KindHeartbeat, c.ann, c.bob, theToken))
			c.receive(message(guardian.KindKnown, c.ann, c.bob, born(10, 6, annsID, bobsID)))
			c.advance(patience * 3 / 2)
			c.receive(c.answering(message(kind, c.ann, c.bob, born(10, 6, annsID, cydsID))))
			if at, ok := c.bob.g.NextWake(nil); ok {
				t.Errorf("bob asks to be woken at %v", at)
			}
		})
	}
}

// A guardian that has heard the holder itself ignores members that know less.
func TestAGuardianIgnoresMembersThatKnowLess(t *testing.T) {
	for name, tc := range map[string]struct {
		learn  wire.Message
		answer guardian.Token
	}{
		"where it has heard the holder": {message(guardian.KindHeartbeat, &member{id: dansID}, &member{id: bobsID},
			since(theToken, 6)), born(10, 6, cydsID)},
		"for an older copy": {message(guardian.KindKnown, &member{id: dansID}, &member{id: bobsID},
			since(theToken, 6)), born(10, 5, cydsID)},
	} {
		t.Run(name, func(t *testing.T) {
			c := newUnaware(t)
			c.receive(message(guardian.KindHeartbeat, c.ann, c.bob, theToken))
			c.receive(tc.learn)
			c.advance(patience)
			c.receive(c.answering(message(guardian.KindKnown, c.cyd, c.bob, tc.answer)))
			c.cyd.dead = true
			c.advance(patience / 2)
			c.wantHolders(c.bob)
		})
	}
}

// A guardian that was away while the answers came, or until long after, has outdated answers.
func TestAGuardianThatIsAwayWhileItAsksAsksAgain(t *testing.T) {
	for name, first := range map[string]func(c *circle, answers []flight){
		"woken first": func(c *circle, _ []flight) { c.wake(c.bob) },
		"the answers first": func(c *circle, answers []flight) {
			for _, f := range answers {
				c.receive(f.msg)
			}
			c.wake(c.bob)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := suspecting(t)
			c.ann.dead = false
			c.ann.holds = false // she was restarted
			c.bob.away = true
			c.advance(2 * latency)
			answers := c.air
			if len(answers) < 2 {
				t.Fatalf("there are %d answers", len(answers))
			}
			c.ann.dead, c.cyd.dead = true, true
			c.advance(patience * 3 / 4)
			c.bob.away, c.bob.notes, c.air = false, nil, nil
			first(c, answers)
			c.wantEndings(c.bob)
			c.wantNotes(c.bob, guardian.NoteSuspected)
			c.advance(patience/2 - 1)
			c.wantHolders()
			c.advance(1)
			c.wantHolders(c.bob)
		})
	}
}

// A short delay is not an absence.
func TestAQuestionThatEndsALittleLateStillCounts(t *testing.T) {
	c := suspecting(t, cydsID)
	c.bob.away = true
	c.advance(patience*3/4 - 1)
	c.wake(c.bob)
	c.wantHolders(c.bob)
}

// A question of the holder shows once that it lives. A replay must not prevent its guardian from noticing its loss.
func TestAReplayedQuestionOfTheHolderCalmsNobody(t *testing.T) {
	c := newCircle(t)
	c.ann.away = true
	c.until(patience)
	c.ann.away = false
	var asked wire.Message
	c.lose = func(m *wire.Message) bool {
		if m.Kind == guardian.KindAsk && m.From == annsID && m.To == bobsID {
			asked = *m
		}
		return false
	}
	c.advance(2 * patience)
	c.wantEndings(c.ann, guardian.Sure)
	c.ann.dead, c.cyd.dead = true, true
	c.receive(asked)
	died := c.now
	for !c.bob.holds {
		c.advance(patience / 8)
		c.receive(asked)
		if c.now.Sub(died) > 3*patience {
			t.Fatal("bob does not notice that ann is dead")
		}
	}
}

// After the next heartbeat of the holder, its question shows again that it lives, even if it gets no answer and sends
// no heartbeat until the question ends.
func TestEveryQuestionOfALivingHolderCalmsItsGuardians(t *testing.T) {
	c := newCircle(t)
	c.lose = func(m *wire.Message) bool { return m.To == annsID }
	for range 3 {
		c.ann.away = true
		c.advance(patience * 5 / 4)
		c.ann.away = false
		c.advance(patience)
		c.wantEndings(c.ann, guardian.Sure)
	}
	c.wantEndings(c.bob)
}

// A question from before its number rose is outdated.
func TestAHoldersOldQuestionCalmsNobody(t *testing.T) {
	c := newCircle(t)
	c.hold(c.ann, since(theToken, 6))
	c.advance(latency)
	c.ann.dead, c.cyd.dead = true, true
	c.advance(patience / 2)
	c.receive(message(guardian.KindAsk, c.ann, c.bob, theToken))
	c.advance(patience)
	c.wantHolders(c.bob)
}

// Another token may come and go meanwhile. It does not affect the question.
func TestAQuestionContinuesWhileAnotherTokenComesAndGoes(t *testing.T) {
	for name, goes := range map[string]func(c *circle){
		"discarded": func(c *circle) { c.bob.holds = false; c.bob.g.EndDoubt() },
		"passed":    func(c *circle) { c.giveUp(c.bob, dansID) },
		"overtaken": func(c *circle) {
			c.receive(message(guardian.KindKnown, c.dan, c.bob, born(20, 10)))
			c.wantEndings(c.bob, guardian.Overtaken)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := suspecting(t, cydsID)
			c.hold(c.bob, born(20, 9))
			c.advance(patience / 4)
			goes(c)
			c.advance(patience/4 - 1)
			c.wantEndings(c.bob)
			c.advance(1)
			c.wantEndings(c.bob, guardian.Revived)
		})
	}
}

// There is one question at a time: a holder that was away asks about its own token. It has also missed the heartbeats
// of the other token's holder, so its patience with that one begins again.
func TestAfterAnAbsenceThePatienceWithOthersBeginsAgain(t *testing.T) {
	c := newCircle(t)
	c.hold(c.bob, born(20, 9, dansID))
	c.bob.away = true
	c.until(3 * patience)
	c.ann.dead, c.cyd.dead, c.dan.dead = true, true, true
	c.air = nil
	c.bob.away, c.bob.notes = false, nil
	c.wake(c.bob)
	c.wantNotes(c.bob, guardian.NoteDoubting)
	c.advance(patience - 1)
	c.wantEndings(c.bob, guardian.Sure)
	c.wantNotes(c.bob)
	c.advance(1)
	c.wantNotes(c.bob, guardian.NoteSuspected)
}

// While a guardian asks, it still sends heartbeats for the token that it holds.
func TestAGuardianThatAsksSendsHeartbeatsForItsOwnToken(t *testing.T) {
	c := newCircle(t)
	c.hold(c.bob, born(20, 9, dansID))
	c.ann.dead, c.cyd.dead = true, true
	c.advance(latency)
	c.dan.notes = nil
	for range 10 {
		c.advance(patience / 8)
		c.wantNotes(c.dan)
	}
	c.wantNotes(c.bob, guardian.NoteSuspected)
}

// After a revival there is no suspicion before a holder is heard again.
func TestAGuardianRevivesATokenOnce(t *testing.T) {
	c := suspecting(t, cydsID)
	c.advance(patience / 2)
	c.wantEndings(c.bob, guardian.Revived)
	c.bob.holds = false
	c.bob.g.EndDoubt()
	if at, ok := c.bob.g.NextWake(nil); ok {
		t.Errorf("bob asks to be woken at %v", at)
	}
	c.advance(time.Minute)
	c.wantEndings(c.bob)
}

// askOthers counts the questions of bob to members that neither hold the token nor keep a copy.
func (c *circle) askOthers(members ...wire.MemberID) int {
	c.t.Helper()
	asked, _ := c.took(c.bob, wire.MemberID{}, guardian.Outcome{}, c.bob.g.AskOthers(members, c.bob.held(), nil))
	return asked
}

func TestAllOthersAreAskedAsWell(t *testing.T) {
	fleet := []wire.MemberID{annsID, bobsID, cydsID, dansID}
	c := suspecting(t, cydsID)
	if n := c.askOthers(fleet...); n != 1 {
		t.Errorf("%d others are asked", n)
	}
	if n := c.askOthers(fleet...); n != 0 {
		t.Errorf("%d others are asked again at once", n)
	}
	heartbeat := c.answering(message(guardian.KindHeartbeat, c.dan, c.bob, born(20, 1)))
	c.receive(heartbeat)
	c.advance(patience - 1)
	c.wantHolders() // dan holds another token
}

func TestAQuestionToAllEndsWhenAllHaveAnswered(t *testing.T) {
	c := suspecting(t, cydsID)
	c.askOthers(annsID, bobsID, cydsID, dansID)
	for _, m := range []*member{c.ann, c.cyd} {
		c.receive(c.answering(message(guardian.KindKnown, m, c.bob, theToken)))
	}
	c.wantHolders()
	c.receive(c.answering(message(guardian.KindKnown, c.dan, c.bob, theToken)))
	c.wantHolders(c.bob)
}

func TestOthersOfALargeFleetAreNotAsked(t *testing.T) {
	c := suspecting(t)
	if n := c.askOthers(make([]wire.MemberID, guardian.MostAsked+1)...); n != 0 {
		t.Errorf("%d are asked", n)
	}
}

// Two members that believe in different tokens would both revive theirs, because neither asks about the other one.
func TestAGuardianGivesWayToOneThatAsksAboutAnOlderToken(t *testing.T) {
	for name, tc := range map[string]struct {
		other   guardian.Token
		revives bool
	}{"an older one": {born(5, 1), false}, "a younger one": {born(20, 1), true}} {
		t.Run(name, func(t *testing.T) {
			c := suspecting(t, cydsID)
			ask := message(guardian.KindAsk, c.dan, c.bob, tc.other)
			ask.Exchange = 99
			c.receive(ask)
			c.advance(patience - 1)
			if c.bob.holds != tc.revives {
				t.Errorf("bob has revived its token: %v", c.bob.holds)
			}
		})
	}
}

// A holder that answers lives, even if its number is lower: its copy is overtaken, but no other copy is needed now. If
// it sends an unasked heartbeat, it is told that it is overtaken.
func TestAHolderOfALowerNumberThatAnswersIsNoReasonToRevive(t *testing.T) {
	for name, asked := range map[string]bool{"answers": true, "sends a heartbeat unasked": false} {
		t.Run(name, func(t *testing.T) {
			c := suspecting(t, cydsID)
			c.askOthers(annsID, bobsID, cydsID, dansID)
			heartbeat := message(guardian.KindHeartbeat, c.dan, c.bob, since(theToken, 4))
			heartbeat.Nonce = 99
			if asked {
				heartbeat = c.answering(heartbeat)
			}
			if told := c.receive(heartbeat); (told == 1) == asked {
				t.Errorf("it is answered by %d messages", told)
			}
			c.advance(patience - 1)
			if c.bob.holds == asked {
				t.Errorf("bob has revived its token: %v", c.bob.holds)
			}
		})
	}
}
