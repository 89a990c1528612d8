package guardian_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// bury lets m remove a token by a rule of its owner.
func (c *circle) bury(m *member, t guardian.Token) {
	c.t.Helper()
	if m.holds {
		m.holds = false
		m.g.EndDoubt()
	}
	c.took(m, wire.MemberID{}, guardian.Outcome{}, m.g.Bury(&t, nil))
}

func TestABurialEndsTheGuarding(t *testing.T) {
	c := newCircle(t)
	c.bury(c.ann, theToken)
	c.wantSent("1ms ann→bob Buried", "1ms ann→cyd Buried")
	c.advance(latency)
	c.wantNotes(c.bob, guardian.NoteStoodDown)
	c.wantNotes(c.cyd, guardian.NoteStoodDown)
	c.advance(10 * patience)
	c.wantHolders()
	c.wantSent()
}

func TestABurialEndsAQuestion(t *testing.T) {
	c := suspecting(t, cydsID)
	c.receive(message(guardian.KindBuried, c.dan, c.bob, theToken))
	c.advance(10 * patience)
	c.wantHolders()
}

// A guardian that has missed the burial asks, and any member that knows of the burial answers with it.
func TestAGuardianThatMissedABurialLearnsOfItWhenItAsks(t *testing.T) {
	c := newCircle(t)
	c.lose = func(m *wire.Message) bool {
		return m.Kind == guardian.KindBuried && m.To == bobsID && c.now < began.Add(patience)
	}
	c.bury(c.ann, theToken)
	c.cyd.dead = true
	c.advance(10 * patience)
	c.wantNotes(c.bob, guardian.NoteSuspected, guardian.NoteStoodDown)
	c.wantHolders()
}

// A holder of another copy may have missed the burial. The answer to its beat tells it.
func TestAnyMemberTellsAHolderThatItsTokenWasRemoved(t *testing.T) {
	c := newCircle(t)
	c.bury(c.bob, theToken)
	c.air = nil
	c.advance(patience/4 + 2*latency)
	c.wantEndings(c.ann, guardian.Overtaken)
	c.wantHolders()
}

func TestAMemberThatRemovesATokenNoLongerGuardsIt(t *testing.T) {
	for name, at := range map[string]time.Duration{"before it asks": latency, "while it asks": latency + patience} {
		t.Run(name, func(t *testing.T) {
			c := newCircle(t)
			c.ann.dead = true
			c.until(at)
			c.bury(c.bob, theToken)
			if at, ok := c.bob.g.NextWake(nil); ok {
				t.Errorf("bob asks to be woken at %v", at)
			}
		})
	}
}

// This holds for guardians and others.
func TestAMemberThatRemovedATokenTellsItsHolder(t *testing.T) {
	c := newCircle(t)
	c.bury(c.dan, theToken)
	c.air, c.sent = nil, nil
	c.receive(message(guardian.KindBeat, c.ann, c.dan, theToken))
	c.wantSent("1ms dan→ann Buried")
}

// The burial does not apply to a copy with a higher number than the removed one.
func TestACopyWithAHigherNumberIsNotBuried(t *testing.T) {
	c := newStrangers(t)
	c.hold(c.ann, since(theToken, 8))
	c.advance(latency)
	for _, m := range []*member{c.ann, c.bob} {
		c.receive(message(guardian.KindBuried, c.dan, m, theToken))
		c.wantNotes(m, guardian.NoteStrayWord)
	}
	c.bury(c.bob, theToken)
	c.ann.dead, c.cyd.dead = true, true
	c.advance(2 * patience)
	c.wantHolders(c.bob)
}

func TestAMemberThatKnowsOfTheRemovalDoesNotGuardTheTokenAgain(t *testing.T) {
	for name, learn := range map[string]func(c *circle){
		"by a beat": func(c *circle) { c.receive(message(guardian.KindBeat, c.dan, c.bob, theToken)) },
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
			c := newStrangers(t)
			c.bury(c.bob, theToken)
			learn(c)
			c.cyd.dead = true
			c.advance(10 * patience)
			c.wantHolders()
			c.wantEndings(c.cyd)
		})
	}
}

// Other guardians of a token may ask a member that has turned to an older token, so it remembers that burial, too.
func TestAGuardianOfAnotherTokenRemembersABurial(t *testing.T) {
	for _, tc := range []struct {
		buried guardian.Token
		want   wire.Kind
	}{
		{theToken, guardian.KindBuried},
		{born(10, 5, cydsID), guardian.KindKnown}, // which it never guarded
	} {
		c := newCircle(t)
		c.receive(message(guardian.KindBeat, c.dan, c.bob, born(1, 7, bobsID)))
		c.receive(message(guardian.KindBuried, c.ann, c.bob, tc.buried))
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

// A later burial with a higher number replaces the earlier one.
func TestTheBurialWithTheHighestNumberIsRemembered(t *testing.T) {
	c := newStrangers(t)
	for _, seq := range []wire.Seq{5, 8, 6} {
		c.bury(c.bob, since(theToken, seq))
	}
	c.air = nil
	c.receive(message(guardian.KindAsk, c.ann, c.bob, since(theToken, 8)))
	c.receive(message(guardian.KindAsk, c.ann, c.bob, since(theToken, 9)))
	if got := []wire.Kind{c.air[0].msg.Kind, c.air[1].msg.Kind}; got[0] != guardian.KindBuried || got[1] != guardian.KindKnown {
		t.Errorf("the answers are %v", got)
	}
}

func TestTheLastFourBurialsAreRemembered(t *testing.T) {
	c := newStrangers(t)
	for i := range int64(5) {
		c.bury(c.bob, born(i+1, 5))
	}
	for i := range int64(5) {
		c.air = nil
		c.receive(message(guardian.KindAsk, c.ann, c.bob, born(i+1, 5)))
		want := guardian.KindBuried
		if i == 0 {
			want = guardian.KindKnown
		}
		if got := c.air[0].msg.Kind; got != want {
			t.Errorf("of the burial before %d others: %v", 4-i, got)
		}
	}
}
