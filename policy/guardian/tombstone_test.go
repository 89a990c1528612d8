package guardian_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// tombstone lets m remove a token by a rule of its owner.
func (c *circle) tombstone(m *member, t guardian.Token) {
	c.t.Helper()
	if m.holds {
		m.holds = false
		m.g.EndDoubt()
	}
	c.took(m, wire.MemberID{}, guardian.Outcome{}, m.g.Tombstone(&t, nil))
}

func TestATombstoneEndsTheGuarding(t *testing.T) {
	c := newCircle(t)
	c.tombstone(c.ann, theToken)
	c.wantSent("1ms ann→bob Buried", "1ms ann→cyd Buried")
	c.advance(latency)
	c.wantNotes(c.bob, guardian.NoteStoodDown)
	c.wantNotes(c.cyd, guardian.NoteStoodDown)
	c.advance(10 * patience)
	c.wantHolders()
	c.wantSent()
}

func TestATombstoneEndsAQuestion(t *testing.T) {
	c := suspecting(t, cydsID)
	c.receive(message(guardian.KindTombstone, c.dan, c.bob, theToken))
	c.advance(10 * patience)
	c.wantHolders()
}

// A guardian that has missed the tombstone asks, and any member that knows of the tombstone answers with it.
func TestAGuardianThatMissedATombstoneLearnsOfItWhenItAsks(t *testing.T) {
	c := newCircle(t)
	c.lose = func(m *wire.Message) bool {
		return m.Kind == guardian.KindTombstone && m.To == bobsID && c.now < began.Add(patience)
	}
	c.tombstone(c.ann, theToken)
	c.cyd.dead = true
	c.advance(10 * patience)
	c.wantNotes(c.bob, guardian.NoteSuspected, guardian.NoteStoodDown)
	c.wantHolders()
}

// A holder of another copy may have missed the tombstone. The answer to its heartbeat tells it.
func TestAnyMemberTellsAHolderThatItsTokenWasRemoved(t *testing.T) {
	c := newCircle(t)
	c.tombstone(c.bob, theToken)
	c.air = nil
	c.advance(patience/4 + 2*latency)
	c.wantEndings(c.ann, guardian.Overtaken)
	c.wantHolders()
}

func TestAMemberThatRemovesATokenKeepsNoCopyOfIt(t *testing.T) {
	for name, at := range map[string]time.Duration{"before it asks": latency, "while it asks": latency + patience} {
		t.Run(name, func(t *testing.T) {
			c := newCircle(t)
			c.ann.dead = true
			c.until(at)
			c.tombstone(c.bob, theToken)
			if at, ok := c.bob.g.NextWake(nil); ok {
				t.Errorf("bob asks to be woken at %v", at)
			}
		})
	}
}

// This holds for guardians and others.
func TestAMemberThatRemovedATokenTellsItsHolder(t *testing.T) {
	c := newCircle(t)
	c.tombstone(c.dan, theToken)
	c.air, c.sent = nil, nil
	c.receive(message(guardian.KindHeartbeat, c.ann, c.dan, theToken))
	c.wantSent("1ms dan→ann Buried")
}

// The tombstone does not apply to a copy with a higher number than the removed one.
func TestACopyWithAHigherNumberOutlivesATombstone(t *testing.T) {
	c := newUnaware(t)
	c.hold(c.ann, since(theToken, 8))
	c.advance(latency)
	for _, m := range []*member{c.ann, c.bob} {
		c.receive(message(guardian.KindTombstone, c.dan, m, theToken))
		c.wantNotes(m, guardian.NoteStrayWord)
	}
	c.tombstone(c.bob, theToken)
	c.ann.dead, c.cyd.dead = true, true
	c.advance(2 * patience)
	c.wantHolders(c.bob)
}

func TestAMemberThatKnowsOfTheRemovalKeepsNoCopyOfTheTokenAgain(t *testing.T) {
	for name, learn := range map[string]func(c *circle){
		"by a heartbeat": func(c *circle) { c.receive(message(guardian.KindHeartbeat, c.dan, c.bob, theToken)) },
		"by its hands": func(c *circle) {
			c.hold(c.bob, born(10, 4, cydsID))
			c.giveUp(c.bob, dansID)
		},
		"by being overtaken": func(c *circle) {
			c.hold(c.bob, born(10, 4))
			c.receive(message(guardian.KindKnown, c.dan, c.bob, theToken))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newUnaware(t)
			c.tombstone(c.bob, theToken)
			learn(c)
			c.cyd.dead = true
			c.advance(10 * patience)
			c.wantHolders()
			c.wantEndings(c.cyd)
		})
	}
}

// Other guardians of a token may ask a member that has turned to an older token, so it remembers that tombstone, too.
func TestAGuardianOfAnotherTokenRemembersATombstone(t *testing.T) {
	for _, tc := range []struct {
		tombstone guardian.Token
		want      wire.Kind
	}{
		{theToken, guardian.KindTombstone},
		{born(10, 5, cydsID), guardian.KindKnown}, // of which it never kept a copy
	} {
		c := newCircle(t)
		c.receive(message(guardian.KindHeartbeat, c.dan, c.bob, born(1, 7, bobsID)))
		c.receive(message(guardian.KindTombstone, c.ann, c.bob, tc.tombstone))
		c.air = nil
		c.receive(message(guardian.KindAsk, c.cyd, c.bob, theToken))
		if got := c.air[0].msg.Kind; got != tc.want {
			t.Errorf("bob answers with a %v, want %v", got, tc.want)
		}
		c.dan.dead = true
		c.advance(2 * patience)
		c.wantEndings(c.bob, guardian.Revived) // the older one
	}
}

// A later tombstone with a higher number replaces the earlier one.
func TestTheTombstoneWithTheHighestNumberIsRemembered(t *testing.T) {
	c := newUnaware(t)
	for _, seq := range []wire.Seq{5, 8, 6} {
		c.tombstone(c.bob, since(theToken, seq))
	}
	c.air = nil
	c.receive(message(guardian.KindAsk, c.ann, c.bob, since(theToken, 8)))
	c.receive(message(guardian.KindAsk, c.ann, c.bob, since(theToken, 9)))
	if got := []wire.Kind{c.air[0].msg.Kind, c.air[1].msg.Kind}; got[0] != guardian.KindTombstone ||
		got[1] != guardian.KindKnown {
		t.Errorf("the answers are %v", got)
	}
}

func TestTheLastFourTombstonesAreRemembered(t *testing.T) {
	c := newUnaware(t)
	for i := range int64(5) {
		c.tombstone(c.bob, born(i+1, 5))
	}
	for i := range int64(5) {
		c.air = nil
		c.receive(message(guardian.KindAsk, c.ann, c.bob, born(i+1, 5)))
		want := guardian.KindTombstone
		if i == 0 {
			want = guardian.KindKnown
		}
		if got := c.air[0].msg.Kind; got != want {
			t.Errorf("of the tombstone before %d others: %v", 4-i, got)
		}
	}
}
