package guardian_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

func TestAHolderSendsHeartbeatsAtOnceAndFourTimesInAPatience(t *testing.T) {
	c := newUnaware(t)
	c.hold(c.ann, theToken)
	c.until(patience)
	c.wantSent(
		"0s ann→bob Beat", "0s ann→cyd Beat",
		"200ms ann→bob Beat", "200ms ann→cyd Beat",
		"400ms ann→bob Beat", "400ms ann→cyd Beat",
		"600ms ann→bob Beat", "600ms ann→cyd Beat",
		"800ms ann→bob Beat", "800ms ann→cyd Beat",
	)
}

func TestATokenWithoutGuardiansHasNoHeartbeat(t *testing.T) {
	c := newUnaware(t)
	c.hold(c.ann, born(10, 5))
	if at, ok := c.ann.g.NextWake(c.ann.held()); ok {
		t.Errorf("ann asks to be woken at %v", at)
	}
	c.advance(10 * patience)
	c.wantSent()
	if c.ann.g.Overdue(c.now, c.ann.held()) {
		t.Error("ann has nobody who could have revived her token, and is overdue")
	}
}

func TestANewGuardianGetsAHeartbeatAtOnce(t *testing.T) {
	c := newCircle(t)
	c.until(100 * time.Millisecond)
	token := c.ann.token
	token.SetTrail(&guardian.Trail{dansID})
	c.hold(c.ann, token)
	c.until(300 * time.Millisecond)
	c.wantSent("100ms ann→dan Beat", "300ms ann→dan Beat")
}

// Each heartbeat has its own number, also over several tokens, so a replayed one is never the latest.
func TestEveryHeartbeatHasAHigherCountThanTheLast(t *testing.T) {
	c := newUnaware(t)
	last := wire.Nonce(0)
	see := func() {
		t.Helper()
		for _, f := range c.air {
			if f.msg.Kind == guardian.KindHeartbeat && f.msg.From == annsID && f.msg.To == bobsID {
				if f.msg.Nonce <= last {
					t.Fatalf("a heartbeat has the count %d after %d", f.msg.Nonce, last)
				}
				last = f.msg.Nonce
			}
		}
	}
	c.hold(c.ann, theToken)
	see()
	c.advance(patience / 4)
	see()
	c.air = nil
	c.receive(message(guardian.KindAsk, c.bob, c.ann, theToken))
	see()
	c.pass(c.ann, c.dan)
	c.air = nil
	c.hold(c.ann, born(3, 9, bobsID))
	see()
	if last < 4 {
		t.Errorf("only %d heartbeats were seen", last)
	}
}

func TestAHolderThatWasAwayForAPatienceIsOverdue(t *testing.T) {
	c := newCircle(t)
	c.until(200 * time.Millisecond) // her last heartbeat
	for _, tc := range []struct {
		away time.Duration
		want bool
	}{{0, false}, {patience - 1, false}, {patience, true}, {time.Hour, true}} {
		at := began.Add(200 * time.Millisecond).Add(tc.away)
		if got := c.ann.g.Overdue(at, c.ann.held()); got != tc.want {
			t.Errorf("%v after her last heartbeat: overdue is %v", tc.away, got)
		}
		if c.bob.g.Overdue(at, nil) {
			t.Error("bob holds nothing, and is overdue")
		}
	}
}

// away lets ann be away for so long that she asks, and returns the circle at that moment.
func away(t *testing.T) *circle {
	t.Helper()
	c := newCircle(t)
	c.ann.away = true
	c.until(patience)
	c.ann.away = false
	c.sent = nil
	c.wake(c.ann)
	return c
}

func TestAHolderThatWasAwayAsksItsGuardiansAndSendsNoHeartbeat(t *testing.T) {
	c := newCircle(t)
	c.bob.dead, c.cyd.dead = true, true
	c.ann.away = true
	c.until(patience)
	c.ann.away = false
	c.wake(c.ann)
	c.until(patience * 11 / 8)
	c.wantSent(
		"800ms ann→bob Ask", "800ms ann→cyd Ask",
		"900ms ann→bob Ask", "900ms ann→cyd Ask", "950ms ann→bob Ask", "950ms ann→cyd Ask",
		"1s ann→bob Ask", "1s ann→cyd Ask", "1.05s ann→bob Ask", "1.05s ann→cyd Ask",
		"1.1s ann→bob Ask", "1.1s ann→cyd Ask",
	)
	c.wantNotes(c.ann, guardian.NoteDoubting)
	if !c.ann.g.Doubting() {
		t.Error("ann is in no doubt")
	}
}

func TestAHolderIsSureAtOnceWhenAllHaveAnswered(t *testing.T) {
	c := away(t)
	c.advance(2*latency - 1)
	c.wantEndings(c.ann)
	c.advance(1)
	c.wantEndings(c.ann, guardian.Sure)
	if c.ann.g.Doubting() {
		t.Error("ann is still in doubt")
	}
	c.wantHolders(c.ann)
	c.advance(10 * patience)
	c.wantHolders(c.ann)
}

func TestAHolderIsSureWhenNobodyAnswersForHalfAPatience(t *testing.T) {
	c := newCircle(t)
	c.bob.dead, c.cyd.dead = true, true
	c.ann.away = true
	c.until(patience)
	c.ann.away = false
	c.wake(c.ann)
	c.advance(patience/2 - 1)
	c.wantEndings(c.ann)
	c.advance(1)
	c.wantEndings(c.ann, guardian.Sure)
}

// The holder was away again while the answers came, or until long after, so the answers are outdated.
func TestAHolderThatIsAwayWhileItAsksAsksAgain(t *testing.T) {
	for name, first := range map[string]func(c *circle, answers []flight){
		"woken first": func(c *circle, _ []flight) { c.wake(c.ann) },
		"the answers first": func(c *circle, answers []flight) {
			for _, f := range answers {
				c.receive(f.msg)
			}
			c.wake(c.ann)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := away(t)
			c.ann.away = true
			c.advance(patience * 3 / 4)
			answers := c.air
			c.air, c.ann.away, c.ann.notes = nil, false, nil
			if len(answers) != 2 {
				t.Fatalf("there are %d answers", len(answers))
			}
			first(c, answers)
			c.wantEndings(c.ann)
			c.wantNotes(c.ann, guardian.NoteDoubting)
			c.advance(2 * latency)
			c.wantEndings(c.ann, guardian.Sure)
		})
	}
}

// With long round trips, the question is still open when the guardians may suspect the holder.
func TestAHolderThatDoesNotRepeatItsQuestionForAPatienceAsksAgain(t *testing.T) {
	c := newCircle(t)
	c.ann.g.Measured(patience)
	c.ann.away = true
	c.until(patience)
	c.ann.away = false
	c.wake(c.ann)
	c.ann.away = true
	c.advance(patience)
	c.ann.away, c.ann.notes, c.air = false, nil, nil
	c.wake(c.ann)
	c.wantNotes(c.ann, guardian.NoteDoubting)
}

// A question of the holder shows that it lives, so its guardians wait.
func TestAHoldersQuestionCalmsItsGuardians(t *testing.T) {
	c := newCircle(t)
	c.ann.away = true
	c.until(patience + latency + patience/4)
	c.wantNotes(c.bob, guardian.NoteSuspected)
	c.ann.away = false
	c.advance(patience / 2)
	c.wantEndings(c.ann, guardian.Sure)
	c.advance(10 * patience)
	c.wantEndings(c.bob)
	c.wantHolders(c.ann)
}

func TestAHolderThatWasAwayForTooLongIsOvertaken(t *testing.T) {
	c := newCircle(t)
	c.ann.away = true
	c.until(10 * patience)
	c.wantHolders(c.ann, c.bob)
	c.ann.away = false
	c.advance(3 * latency)
	c.wantEndings(c.ann, guardian.Overtaken)
	c.advance(10 * patience)
	c.wantHolders(c.bob)
}

// Any message about a copy with a higher number makes the holder discard its copy, except a question: the asker knows
// of no holder.
func TestAHolderThatLearnsOfAHigherNumberIsOvertaken(t *testing.T) {
	for _, kind := range []wire.Kind{
		guardian.KindHeartbeat, guardian.KindHeard, guardian.KindKnown, guardian.KindTombstone,
	} {
		t.Run(nameOf(kind), func(t *testing.T) {
			c := newCircle(t)
			higher := born(10, 6, bobsID, dansID)
			msg := message(kind, c.dan, c.ann, higher)
			var o guardian.Outcome
			c.ann.g.Receive(c.now, &msg, c.ann.held(), &o, nil)
			if want := (guardian.Outcome{Ending: guardian.Overtaken, Peer: dansID, Token: higher}); o != want {
				t.Errorf("the outcome is %+v, want %+v", o, want)
			}
		})
	}
}

func TestOfTwoHoldersOfOneNumberTheOneWithTheLowerIdentityYields(t *testing.T) {
	for _, tc := range []struct {
		holder, other wire.MemberID
		overtaken     bool
	}{{bobsID, cydsID, true}, {cydsID, bobsID, false}} {
		c := newUnaware(t)
		m, other := c.find(tc.holder), c.find(tc.other)
		c.hold(m, born(10, 5, dansID))
		c.sent = nil
		c.receive(message(guardian.KindHeartbeat, other, m, born(10, 5, dansID)))
		if got := len(m.endings) == 1; got != tc.overtaken {
			t.Errorf("%s is overtaken by %s: %v", m.name, other.name, got)
		}
		if !tc.overtaken {
			c.wantSent("0s cyd→bob Beat")
		}
	}
}

// Two members hold the same token with the same number and are guardians of each other: one holder is left, and no
// messages follow.
func TestTwoHoldersOfOneNumberDoNotAnswerEachOtherForEver(t *testing.T) {
	c := newUnaware(t)
	c.hold(c.bob, born(10, 5, cydsID))
	c.hold(c.cyd, born(10, 5, bobsID))
	c.sent = nil
	c.advance(patience/4 - 1)
	c.wantHolders(c.cyd)
	if len(c.sent) > 3 {
		t.Errorf("sent were %v", c.sent)
	}
	c.sent = nil
	c.advance(patience)
	for _, s := range c.sent {
		if s[len(s)-len("cyd→bob Beat"):] != "cyd→bob Beat" {
			t.Errorf("sent were %v", c.sent)
			break
		}
	}
}

func TestAHolderWithALowerNumberIsAnsweredByTheHigher(t *testing.T) {
	c := newUnaware(t)
	c.hold(c.ann, born(10, 8, cydsID))
	c.hold(c.bob, born(10, 7, annsID))
	c.advance(2 * latency)
	c.wantHolders(c.ann)
	c.wantEndings(c.bob, guardian.Overtaken)
}

// A holder ignores messages without news of a higher copy.
func TestAHolderIgnoresLowerNumbers(t *testing.T) {
	c := newCircle(t)
	for _, seq := range []wire.Seq{4, 5} {
		for _, kind := range []wire.Kind{guardian.KindHeard, guardian.KindKnown, guardian.KindTombstone} {
			if kind == guardian.KindTombstone && seq == 5 {
				continue // The copy that is held was removed.
			}
			c.receive(message(kind, c.dan, c.ann, since(theToken, seq)))
			c.wantNotes(c.ann, guardian.NoteStrayWord)
		}
	}
	c.wantHolders(c.ann)
}

func TestAHolderOfARemovedTokenIsOvertaken(t *testing.T) {
	c := newCircle(t)
	c.receive(message(guardian.KindTombstone, c.dan, c.ann, theToken))
	c.wantEndings(c.ann, guardian.Overtaken)
	c.advance(10 * patience)
	c.wantHolders()
}

// The guardians of the discarded copy would revive it if they did not learn of the higher copy.
func TestTheGuardiansOfADiscardedCopyAreTold(t *testing.T) {
	for _, kind := range []wire.Kind{guardian.KindKnown, guardian.KindTombstone} {
		t.Run(nameOf(kind), func(t *testing.T) {
			c := newCircle(t)
			c.receive(message(kind, c.dan, c.ann, born(10, 9, dansID)))
			c.wantSent("1ms ann→bob "+nameOf(kind), "1ms ann→cyd "+nameOf(kind))
			c.advance(10 * patience)
			c.wantHolders()
			c.wantSent()
		})
	}
}

func TestAHolderThatIsOvertakenKeepsTheHigherCopyIfItIsToldTo(t *testing.T) {
	c := newCircle(t)
	c.hold(c.dan, born(10, 9, annsID))
	c.advance(latency)
	c.wantEndings(c.ann, guardian.Overtaken)
	c.dan.dead, c.bob.dead, c.cyd.dead = true, true, true
	c.sent = nil
	c.advance(patience)
	c.wantSent("802ms ann→dan Ask") // its heartbeat shows which member holds it
	c.advance(patience)
	c.wantHolders(c.ann)
	if c.ann.token.Seq <= 9 {
		t.Errorf("the number is %d", c.ann.token.Seq)
	}
}

// Of two tokens the older survives: a member that keeps a copy of it does not turn to a copy of the token that it has
// held.
func TestAnOvertakenHolderGoesOnKeepingACopyOfAnOlderToken(t *testing.T) {
	c := newUnaware(t)
	c.hold(c.ann, born(10, 5))
	c.hold(c.dan, born(3, 7, annsID))
	c.advance(latency)
	c.receive(message(guardian.KindKnown, c.bob, c.ann, born(10, 9)))
	c.wantEndings(c.ann, guardian.Overtaken)
	c.dan.dead = true
	c.advance(2 * patience)
	c.wantHolders(c.ann)
	if c.ann.token.ID != born(3, 0).ID {
		t.Errorf("ann has revived %v", c.ann.token.ID)
	}
}

func TestAMemberThatPassesATokenKeepsACopy(t *testing.T) {
	c := newCircle(t)
	c.pass(c.ann, c.dan)
	c.advance(latency)
	c.dan.dead = true
	c.advance(2 * patience)
	c.wantHolders(c.ann)
}

func TestAMemberThatPassesATokenReleasesTheGuardianThatDropsOut(t *testing.T) {
	c := newCircle(t)
	c.pass(c.ann, c.dan)
	c.wantSent("1ms ann→cyd Known", "1ms dan→ann Beat", "1ms dan→bob Beat")
	c.advance(latency)
	c.dan.dead, c.ann.dead, c.bob.dead = true, true, true
	c.advance(10 * patience)
	c.wantHolders()
}

// The receiver of the token needs no message about it.
func TestTheReceiverOfTheTokenIsNotReleased(t *testing.T) {
	c := newCircle(t)
	c.pass(c.ann, c.cyd)
	c.wantSent("1ms cyd→ann Beat", "1ms cyd→bob Beat")
}

// A member has no doubt about a token that it no longer holds.
func TestADoubtEndsWithItsToken(t *testing.T) {
	for name, end := range map[string]func(c *circle){
		"discarded": func(c *circle) { c.ann.holds = false; c.ann.g.EndDoubt() },
		"passed":    func(c *circle) { c.giveUp(c.ann, dansID) },
		"changed":   func(c *circle) { c.hold(c.ann, born(3, 9)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := away(t)
			end(c)
			if c.ann.g.Doubting() {
				t.Error("ann is still in doubt")
			}
			c.bob.dead, c.cyd.dead, c.sent = true, true, nil
			c.advance(patience / 2)
			c.wantEndings(c.ann)
			c.wantSent()
		})
	}
}

// Events of another token do not matter.
func TestADoubtContinuesAfterNewsOfAnotherToken(t *testing.T) {
	c := away(t)
	c.receive(message(guardian.KindHeartbeat, c.dan, c.ann, born(3, 7, annsID)))
	if !c.ann.g.Doubting() {
		t.Error("ann is in no doubt any longer")
	}
	c.advance(2 * latency)
	c.wantEndings(c.ann, guardian.Sure)
}
