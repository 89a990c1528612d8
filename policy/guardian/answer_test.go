package guardian_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// Every member answers a question with one message that has the question's identity.
func TestEveryQuestionIsAnsweredByOneMessage(t *testing.T) {
	for name, tc := range map[string]struct {
		begin func(c *circle)
		to    func(c *circle) *member
		about guardian.Token
		kind  wire.Kind
		seq   wire.Seq
	}{
		"by the holder": {nil, holder, theToken, guardian.KindHeartbeat, 5},
		"by the holder, who has come further than that": {nil, holder, since(theToken, 3), guardian.KindHeartbeat, 5},
		"by a guardian": {nil, guardianOf, theToken, guardian.KindHeard, 5},
		"by a guardian that knows more": {
			nil, guardianOf, since(theToken, 3), guardian.KindHeard, 5,
		},
		"by a guardian that knows less, and heard the holder": {
			nil, guardianOf, since(theToken, 8), guardian.KindHeard, 5,
		},
		"by a guardian that knows less": {
			silent, guardianOf, since(theToken, 8), guardian.KindHeard, 8,
		},
		"by a guardian that learns that it is no longer one": {
			silent, guardianOf, born(10, 8, cydsID), guardian.KindKnown, 8,
		},
		"by the holder, of whose copy another one has more": {
			nil, holder, since(theToken, 8), guardian.KindHeartbeat, 5,
		},
		"by one who has never heard of it":              {nil, unaware, theToken, guardian.KindKnown, 5},
		"by one who keeps a copy of another token":      {nil, guardianOf, born(20, 8), guardian.KindKnown, 8},
		"by one who has passed it on, and left it":      {left, holder, theToken, guardian.KindKnown, 6},
		"by one who has passed it on, and keeps a copy": {passed, holder, theToken, guardian.KindHeard, 6},
		"by one who knows that it was removed": {
			removed, guardianOf, theToken, guardian.KindTombstone,
			5,
		},
		"by one who knows that a later copy was removed": {
			removed, guardianOf, since(theToken, 3), guardian.KindTombstone, 3,
		},
		"by one who has removed it": {removed, holder, theToken, guardian.KindTombstone, 5},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCircle(t)
			if tc.begin != nil {
				tc.begin(c)
			}
			c.air = nil
			ask := message(guardian.KindAsk, c.cyd, tc.to(c), tc.about)
			c.receive(ask)
			if len(c.air) != 1 {
				t.Fatalf("the answers are %+v", c.air)
			}
			got := c.air[0].msg
			if got.Kind != tc.kind || got.Token.ID != tc.about.ID || got.Token.Seq != tc.seq ||
				got.Exchange != ask.Exchange ||
				got.From != ask.To || got.To != ask.From || got.Gate != gate {
				t.Errorf("the answer is %+v", got)
			}
		})
	}
}

func holder(c *circle) *member     { return c.ann }
func guardianOf(c *circle) *member { return c.bob }
func unaware(c *circle) *member    { return c.dan }

// silent lets a patience pass in which no member hears the holder.
func silent(c *circle) {
	c.ann.away = true
	c.cyd.away = true
	c.advance(patience)
}

func passed(c *circle) { c.giveUp(c.ann, dansID) }

func left(c *circle) {
	c.ann.g.Close()
	c.giveUp(c.ann, dansID)
}

// removed lets ann remove her token and tell the guardians.
func removed(c *circle) {
	c.ann.holds = false
	c.took(c.ann, wire.MemberID{}, guardian.Outcome{}, c.ann.g.Tombstone(&theToken, nil))
	c.advance(latency)
}

// No other token should be revived while one is there, so its holder answers that, unless it knows that the other one
// was removed.
func TestAHolderOfAnotherTokenSaysThatItHoldsOne(t *testing.T) {
	c := newCircle(t)
	other := born(20, 8)
	c.receive(message(guardian.KindAsk, c.cyd, c.ann, other))
	if got := c.air[0].msg; got.Kind != guardian.KindHeartbeat || got.Token != theToken.Ref || got.Exchange != 77 {
		t.Errorf("the answer is %+v", got)
	}
	c.tombstone(c.dan, other)
	c.hold(c.dan, theToken)
	c.air = nil
	c.receive(message(guardian.KindAsk, c.cyd, c.dan, other))
	if got := c.air[0].msg.Kind; got != guardian.KindTombstone {
		t.Errorf("the answer is a %v", got)
	}
}

// The answer contains the time since the last heartbeat, or since the token was passed.
func TestAGuardianSaysWhenItHeardTheHolder(t *testing.T) {
	for _, tc := range []struct {
		begin func(c *circle)
		to    func(c *circle) *member
		want  wire.Nonce
	}{
		{func(*circle) {}, guardianOf, 1},
		{func(c *circle) { c.ann.dead = true; c.advance(17) }, guardianOf, 17},
		{func(c *circle) { passed(c); c.advance(17) }, holder, 17},
		{func(c *circle) {
			c.ann.dead = true
			c.advance(99)
			c.receive(message(guardian.KindAsk, c.ann, c.bob, theToken))
			c.advance(17)
		}, guardianOf, 17},
		{
			func(c *circle) { c.receive(message(guardian.KindKnown, c.dan, c.bob, since(theToken, 8))) }, guardianOf,
			wire.Nonce(patience),
		},
	} {
		c := newCircle(t)
		tc.begin(c)
		c.air = nil
		c.receive(message(guardian.KindAsk, c.cyd, tc.to(c), theToken))
		if got := c.air[0].msg; got.Kind != guardian.KindHeard || got.Nonce != tc.want {
			t.Errorf("the answer is a %v of %d ago, want %d", got.Kind, got.Nonce, tc.want)
		}
	}
}

// A question contains what the asker knows: a member that knows less learns it, and keeps a copy accordingly.
func TestAQuestionInformsItsAddressees(t *testing.T) {
	c := newCircle(t)
	news := message(guardian.KindAsk, c.dan, c.bob, born(10, 9, cydsID, bobsID))
	c.receive(news)
	if latest, _ := c.bob.g.Latest(theToken.ID); latest.Seq != 5 {
		t.Errorf("bob has heard the holder, and believes in %d", latest.Seq)
	}
	silent(c)
	c.receive(news)
	if latest, ok := c.bob.g.Latest(theToken.ID); !ok || latest.Seq != 9 {
		t.Errorf("bob knows of %d", latest.Seq)
	}
	c.ann.dead, c.cyd.dead = true, true
	c.advance(patience*2 - 1) // now he is the second
	c.wantHolders()
	c.advance(1)
	c.wantHolders(c.bob)
}
