package guardian_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// newQuiet returns four quiet members. ann holds the token, and has just announced it to bob and cyd, its guardians.
func newQuiet(t *testing.T) *circle {
	t.Helper()
	c := newUnaware(t)
	for _, m := range c.all {
		m.g.BeQuiet()
	}
	c.hold(c.ann, theToken)
	c.took(c.ann, wire.MemberID{}, guardian.Outcome{},
		c.ann.g.Announce(c.now, &c.ann.token, c.ann.token.Trail(), 5, nil))
	return c
}

// A quiet holder that nobody waits for sends nothing, and its death is not noticed. cyd, the second guardian, knows of
// a member that waits, and lets bob go first, who knows of none. So bob has to suspect the holder once cyd asks.
func TestAQuietGuardianThatIsAskedRevivesTheToken(t *testing.T) {
	c := newQuiet(t)
	c.advance(latency)
	c.ann.dead, c.sent = true, nil
	c.advance(time.Hour)
	c.wantSent()
	c.cyd.g.Await(c.now, true)
	c.advance(3 * patience)
	c.wantHolders(c.bob)
}

// Each of those who wait gives up before a patience is over. "It goes on when nobody waits any more before the holder
// was heard", and the next one who waits does not begin it again.
func TestAQuietGuardianGoesOnWhenThoseWhoWaitGiveUp(t *testing.T) {
	for _, waits := range []int{1, 5} {
		c := newQuiet(t)
		c.advance(latency)
		c.ann.dead = true
		c.advance(time.Hour)
		for range waits {
			c.bob.g.Await(c.now, true)
			c.advance(patience / 4)
			c.bob.g.Await(c.now, false)
			c.advance(patience / 8)
		}
		c.advance(2*patience - time.Duration(waits)*3*patience/8)
		c.wantHolders(c.bob)
	}
}

// A holder that was heard need not be heard again when nobody waits any more.
func TestAQuietGuardianThatHasHeardTheHolderGoesQuiet(t *testing.T) {
	c := newQuiet(t)
	c.advance(time.Hour)
	for _, who := range []*member{c.ann, c.bob} {
		who.g.Await(c.now, true)
	}
	c.advance(patience / 2)
	for _, who := range []*member{c.ann, c.bob} {
		who.g.Await(c.now, false)
	}
	c.sent = nil
	c.advance(time.Hour)
	c.wantSent()
}

// A home of a quiet token has not passed it to its holder, so it asks about a Yield. It does not wait for the answer of
// the member that has sent it, which is dead.
func TestAQuietGuardianDoesNotAskTheSenderOfAYield(t *testing.T) {
	c := newQuiet(t)
	c.advance(latency)
	c.sent = nil
	c.yield()
	c.advance(latency)
	c.took(c.bob, wire.MemberID{}, guardian.Outcome{},
		c.bob.g.AskOthers([]wire.MemberID{annsID, bobsID, cydsID, dansID}, nil, nil))
	c.wantSent("1ms ann→bob Yield", "1ms ann→cyd Yield", "2ms bob→cyd Ask", "2ms bob→dan Ask")
	c.advance(2 * latency)
	c.wantHolders(c.bob)
}

// bob, the first guardian, asks the holder, because somebody waits. cyd goes after him, so she has no reason to ask.
func TestAQuietGuardianThatGoesLaterDoesNotAskBecauseItIsAsked(t *testing.T) {
	c := newQuiet(t)
	c.advance(time.Hour)
	c.bob.g.Await(c.now, true)
	c.advance(patience + latency)
	c.bob.g.Await(c.now, false)
	c.advance(time.Hour)
	c.wantNotes(c.cyd)
	c.wantHolders(c.ann)
}

// That another guardian has just heard the holder is no reason to wait: it has not heard of the Yield.
func TestAQuietGuardianDoesNotWaitForOneThatHasHeardTheYielder(t *testing.T) {
	c := newQuiet(t)
	c.advance(latency)
	c.ann.dead, c.ann.holds = true, false
	c.receive(message(guardian.KindYield, c.ann, c.bob, theToken))
	c.advance(3 * latency)
	c.wantHolders(c.bob)
}

// Nobody answers for bob's token but dan, who holds a younger one. bob asks once more; then dan's is the one to wait
// for.
func TestAQuietGuardianTurnsToTheYoungerTokenWhoseHolderAloneAnswers(t *testing.T) {
	c := newQuiet(t)
	c.advance(latency)
	c.ann.dead, c.cyd.dead = true, true
	c.bob.g.Await(c.now, true)
	for round := range 2 {
		if _, keeps := c.bob.g.Keeps(); !keeps {
			t.Fatalf("bob keeps no copy in round %d", round)
		}
		c.advance(patience + latency)
		c.askOthers(annsID, bobsID, cydsID, dansID)
		c.receive(c.answering(message(guardian.KindHeartbeat, c.dan, c.bob, born(20, 1))))
	}
	if _, keeps := c.bob.g.Keeps(); keeps {
		t.Error("bob goes on keeping the copy of a token that nobody has")
	}
}

// The last heartbeat takes longer to cyd than to bob. So when bob asks, she has heard the holder less than a patience
// ago; but she knows nothing that he does not know, and he does not let her go first.
func TestAQuietGuardianDoesNotWaitForOneThatHasHeardTheSameHeartbeat(t *testing.T) {
	c := newQuiet(t)
	c.advance(latency)
	c.ann.dead = true
	later := message(guardian.KindHeartbeat, c.ann, c.bob, theToken)
	later.Nonce = 9
	c.receive(later)
	c.bob.g.Await(c.now, true)
	c.advance(4 * latency)
	later.To = c.cyd.id
	c.receive(later)
	c.advance(patience + patience/2)
	c.wantHolders(c.bob)
}
