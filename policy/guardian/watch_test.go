package guardian_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

func TestAPatienceOfSilenceLeadsToAQuestion(t *testing.T) {
	c := newCircle(t)
	c.ann.dead = true
	c.until(latency + patience - 1)
	c.wantSent()
	c.until(latency + patience)
	c.wantSent("801ms bob→ann Ask", "801ms bob→cyd Ask")
	c.wantNotes(c.bob, guardian.NoteSuspected)
}

func TestEveryHeartbeatPostponesSuspicion(t *testing.T) {
	c := newCircle(t)
	c.until(10 * patience)
	c.wantNotes(c.bob)
	c.wantNotes(c.cyd)
	c.ann.dead = true
	c.advance(patience + latency)
	c.wantNotes(c.bob, guardian.NoteSuspected)
}

// A few heartbeats may be lost: three lost ones in a row are no silence.
func TestThreeLostHeartbeatsAreNoSilence(t *testing.T) {
	c := newCircle(t)
	heartbeats := 0
	c.lose = func(m *wire.Message) bool {
		if m.Kind == guardian.KindHeartbeat && m.To == bobsID {
			heartbeats++
		}
		return m.Kind == guardian.KindHeartbeat && heartbeats%4 != 0
	}
	c.until(10 * patience)
	c.wantNotes(c.bob)
	if heartbeats < 30 {
		t.Errorf("there were only %d heartbeats", heartbeats)
	}
}

// A replayed heartbeat with an old count is ignored, one with an old number is corrected, and neither postpones
// suspicion.
func TestAReplayedHeartbeatChangesNothing(t *testing.T) {
	c := newUnaware(t)
	var heartbeats []wire.Message
	c.lose = func(m *wire.Message) bool {
		if m.Kind == guardian.KindHeartbeat && m.To == bobsID {
			heartbeats = append(heartbeats, *m)
		}
		return false
	}
	c.hold(c.ann, theToken)
	c.advance(patience)
	c.pass(c.ann, c.dan)
	c.advance(patience)
	c.pass(c.dan, c.ann)
	c.advance(patience + latency)
	if len(heartbeats) < 12 {
		t.Fatalf("there are only %d heartbeats", len(heartbeats))
	}
	last := c.ann.token.Seq
	c.ann.dead, c.cyd.dead, c.dan.dead = true, true, true
	for range 32 { // Two patiences, because bob is not the first in the trail.
		c.wantHolders()
		for _, heartbeat := range heartbeats {
			if sent := c.receive(heartbeat); sent > 1 || heartbeat.Token.Seq == last && sent > 0 {
				t.Fatalf("%d messages are sent because of an old heartbeat", sent)
			}
		}
		c.advance(patience / 16)
	}
	c.wantHolders(c.bob)
}

// Heartbeats may be reordered.
func TestAHeartbeatThatComesAfterALaterOneIsNoNews(t *testing.T) {
	c := newUnaware(t)
	for _, tc := range []struct {
		count wire.Nonce
		news  bool
	}{{1, true}, {3, true}, {2, false}, {3, false}, {4, true}} {
		m := message(guardian.KindHeartbeat, c.ann, c.bob, theToken)
		m.Nonce = tc.count
		if got := c.bob.g.Expects(&m, nil); got != tc.news {
			t.Errorf("heartbeat %d is expected: %v", tc.count, got)
		}
		c.receive(m)
	}
}

// An overtaken holder that does not know it learns it from any guardian to which it sends a heartbeat.
func TestAGuardianCorrectsAHolderThatHasBeenOvertaken(t *testing.T) {
	c := newCircle(t)
	c.hold(c.dan, since(theToken, 9))
	c.advance(latency)
	c.ann.endings = nil
	c.hold(c.ann, theToken)
	c.advance(2 * latency)
	c.wantEndings(c.ann, guardian.Overtaken)
	c.wantHolders(c.dan)
}

// A member ignores a heartbeat whose trail does not list it; while it leaves, it also ignores one of a new token.
func TestAHeartbeatIsForAGuardian(t *testing.T) {
	c := newUnaware(t)
	c.receive(message(guardian.KindHeartbeat, c.ann, c.bob, born(10, 5, cydsID)))
	c.wantNotes(c.bob, guardian.NoteStrayWord)
	c.cyd.g.Close()
	c.receive(message(guardian.KindHeartbeat, c.ann, c.cyd, born(10, 5, cydsID)))
	c.wantNotes(c.cyd, guardian.NoteStrayWord)
}

func TestAGuardianThatIsNoLongerInTheTrailStandsDown(t *testing.T) {
	c := newCircle(t)
	c.ann.token.SetTrail(&guardian.Trail{cydsID})
	c.hold(c.ann, since(c.ann.token, 6))
	c.receive(message(guardian.KindKnown, c.dan, c.bob, c.ann.token))
	if at, ok := c.bob.g.NextWake(nil); ok {
		t.Errorf("bob asks to be woken at %v", at)
	}
}

// If two tokens meet, the older survives, so a guardian prefers the older.
func TestAGuardianOfTwoTokensKeepsACopyOfTheOlder(t *testing.T) {
	older, younger := born(1, 3, bobsID), born(2, 9, bobsID)
	for name, order := range map[string][]guardian.Token{
		"the older first": {older, younger}, "the younger first": {younger, older},
	} {
		t.Run(name, func(t *testing.T) {
			c := newUnaware(t)
			for i, token := range order {
				from := []*member{c.ann, c.dan}[i]
				c.receive(message(guardian.KindHeartbeat, from, c.bob, token))
			}
			c.advance(2 * patience)
			c.wantHolders(c.bob)
			if c.bob.token.ID != older.ID {
				t.Errorf("bob has revived %v", c.bob.token.ID)
			}
		})
	}
}

// This holds also if it has just passed on the younger one.
func TestAGuardianOfAnOlderTokenDoesNotGuardTheTokenThatItPassesOn(t *testing.T) {
	c := newUnaware(t)
	c.receive(message(guardian.KindHeartbeat, c.dan, c.ann, born(1, 3, annsID)))
	c.hold(c.ann, theToken)
	c.giveUp(c.ann, bobsID)
	c.advance(2 * patience)
	if c.ann.token.ID != born(1, 0).ID || !c.ann.holds {
		t.Errorf("ann holds %v: %v", c.ann.token.ID, c.ann.holds)
	}
}

// A member that keeps no copy may keep one of any token.
func TestAMemberThatWasReleasedKeepsACopyOfAnyToken(t *testing.T) {
	c := newUnaware(t)
	c.receive(message(guardian.KindHeartbeat, c.dan, c.bob, born(1, 3, bobsID)))
	c.receive(message(guardian.KindKnown, c.dan, c.bob, born(1, 4, cydsID)))
	c.receive(message(guardian.KindHeartbeat, c.ann, c.bob, born(2, 9, bobsID)))
	c.advance(2 * patience)
	c.wantHolders(c.bob)
	if c.bob.token.ID != born(2, 0).ID {
		t.Errorf("bob has revived %v", c.bob.token.ID)
	}
}

func TestAHolderOfATokenDoesNotReviveAnOldCopyOfIt(t *testing.T) {
	c := newCircle(t)
	c.pass(c.ann, c.bob)
	c.ann.dead, c.cyd.dead = true, true
	c.advance(10 * patience)
	c.wantNotes(c.bob)
	c.wantHolders(c.bob)
}

// The revived token is the last known copy, without the lost and the new holder in its trail. The owner raises its
// number.
func TestARevivedTokenIsTheOneThatWasLost(t *testing.T) {
	c := newUnaware(t)
	token := theToken
	token.Load[guardian.TrailSize], token.Load[wire.LoadSize-2] = 17, 40 // the protocol's own
	token.SetTrail(&guardian.Trail{cydsID, bobsID, annsID})
	c.receive(message(guardian.KindHeartbeat, c.ann, c.bob, token))
	c.now = c.now.Add(patience * 3 / 2)
	c.wake(c.bob)
	c.now = c.now.Add(patience / 2)
	var o guardian.Outcome
	c.bob.g.Wake(c.now, nil, &o, nil)
	token.SetTrail(&guardian.Trail{cydsID})
	if want := (guardian.Outcome{Ending: guardian.Revived, Peer: annsID, Token: token}); o != want {
		t.Errorf("the outcome is %+v, want %+v", o, want)
	}
	if at, ok := c.bob.g.NextWake(nil); ok {
		t.Errorf("bob has done with it, and asks to be woken at %v", at)
	}
}

func TestALeavingMemberKeepsNoCopy(t *testing.T) {
	for name, leave := range map[string]func(c *circle){
		"of which it kept a copy": func(c *circle) { c.bob.g.Close() },
		"about which it asks":     func(c *circle) { c.ann.dead = true; c.advance(patience); c.bob.g.Close() },
		"that it passes on":       func(c *circle) { c.pass(c.ann, c.bob); c.bob.g.Close(); c.giveUp(c.bob, dansID) },
		"of which it is told":     func(c *circle) { c.bob.g.Close(); c.advance(patience) },
		"that is new to it": func(c *circle) {
			c.bob.g.Close()
			c.receive(message(guardian.KindHeartbeat, c.dan, c.bob, born(1, 9, bobsID)))
		},
		"that is asked for": func(c *circle) {
			c.bob.g.Close()
			c.receive(message(guardian.KindAsk, c.cyd, c.bob, since(theToken, 9)))
		},
		"whose holder is away": func(c *circle) { c.ann.away = true; c.bob.g.Close(); c.advance(patience) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCircle(t)
			leave(c)
			if at, ok := c.bob.g.NextWake(c.bob.held()); ok {
				t.Errorf("bob asks to be woken at %v", at)
			}
		})
	}
}

func TestALeavingMemberStillAnswers(t *testing.T) {
	c := newCircle(t)
	c.bob.g.Close()
	c.sent = nil
	c.receive(message(guardian.KindAsk, c.cyd, c.bob, theToken))
	c.wantSent("1ms bob→cyd Known")
}

// The latest copy of a token is the one with the highest number.
func TestTheLatestIsTheHighestThatIsKnown(t *testing.T) {
	c := newUnaware(t)
	want := func(m *member, seq wire.Seq) {
		t.Helper()
		latest, ok := m.g.Latest(theToken.ID)
		if ok != (seq > 0) || ok && latest.Seq != seq {
			t.Errorf("the latest that %s knows is %d (%v), want %d", m.name, latest.Seq, ok, seq)
		}
	}
	want(c.bob, 0)
	c.receive(message(guardian.KindHeartbeat, c.ann, c.bob, theToken))
	want(c.bob, 5)
	c.receive(message(guardian.KindKnown, c.dan, c.bob, since(theToken, 8)))
	want(c.bob, 8)
	c.receive(message(guardian.KindHeartbeat, c.ann, c.bob, since(theToken, 7)))
	want(c.bob, 8)
	c.hold(c.ann, theToken)
	c.giveUp(c.ann, dansID)
	want(c.ann, 6)
}

// A machine without work has no wake-up.
func TestANewMachineSleeps(t *testing.T) {
	c := newUnaware(t)
	for _, m := range c.all {
		if at, ok := m.g.NextWake(nil); ok {
			t.Errorf("%s asks to be woken at %v", m.name, at)
		}
	}
	c.advance(time.Hour)
	c.wantSent()
}

// In a network whose round trips are long, a guardian waits for two of them before it suspects the holder, and for one
// and a half for the answers: the first heartbeat of a new holder comes a round trip after the token was passed, and an
// answer a round trip after its question.
func TestAGuardianIsAsPatientAsItsNetworkIsSlow(t *testing.T) {
	for _, tc := range []struct{ roundTrip, silence, answers time.Duration }{
		{0, patience, patience / 2},
		{patience / 3, patience, patience / 2},
		{patience / 2, patience, patience * 3 / 4},
		{patience, 2 * patience, patience * 3 / 2},
		{3 * patience, 6 * patience, patience * 9 / 2},
	} {
		c := newUnaware(t)
		c.ann.dead, c.cyd.dead, c.dan.dead = true, true, true
		c.bob.g.Measured(tc.roundTrip)
		c.receive(message(guardian.KindHeartbeat, c.ann, c.bob, theToken))
		c.advance(tc.silence - 1)
		c.wantNotes(c.bob)
		c.advance(1)
		c.wantNotes(c.bob, guardian.NoteSuspected)
		asked := c.now
		for !c.bob.holds {
			wake, ok := c.bob.g.NextWake(nil)
			if !ok {
				t.Fatal("it is not woken any more")
			}
			c.advance(wake.Sub(c.now))
		}
		if got := c.now.Sub(asked); got != tc.answers {
			t.Errorf("with round trips of %v it waits for answers for %v, want %v", tc.roundTrip, got, tc.answers)
		}
	}
}
