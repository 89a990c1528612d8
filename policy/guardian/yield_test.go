package guardian_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// newPassed is newCircle, but bob has passed the token to ann.
func newPassed(t *testing.T) *circle {
	t.Helper()
	c := newUnaware(t)
	c.hold(c.bob, born(10, 4, cydsID))
	c.pass(c.bob, c.ann)
	c.advance(latency)
	c.sent = nil
	return c
}

// yield ends ann, who holds the token, and tells her guardians at once.
func (c *circle) yield() {
	c.t.Helper()
	c.ann.dead, c.ann.holds = true, false
	c.took(c.ann, wire.MemberID{}, guardian.Outcome{}, c.ann.g.Yield(c.now, &c.ann.token, nil))
}

func TestTheFirstGuardianRevivesAYieldedTokenAtOnce(t *testing.T) {
	c := newPassed(t)
	c.yield()
	c.wantSent("1ms ann→bob Yield", "1ms ann→cyd Yield")
	c.advance(latency)
	c.wantHolders(c.bob)
	c.wantNotes(c.bob)
	c.advance(10 * patience)
	c.wantHolders(c.bob)
	c.wantEndings(c.cyd)
}

// A guardian that has not passed the token to the sender itself has only the sender's word: it asks first.
func TestAGuardianAsksAboutAYieldOfOneThatItDidNotPassTheTokenTo(t *testing.T) {
	c := newCircle(t)
	c.receive(message(guardian.KindYield, c.dan, c.bob, since(theToken, 6)))
	c.wantHolders(c.ann)
	c.advance(1)
	c.wantNotes(c.bob, guardian.NoteSuspected)
}

// The first is dead too: the second waits for half a patience, and asks for another half.
func TestTheNextGuardianOfAYieldedTokenWaitsForTheFirst(t *testing.T) {
	c := newCircle(t)
	c.bob.dead = true
	c.yield()
	c.advance(latency + patience/2 - 1)
	c.wantNotes(c.cyd)
	c.advance(1)
	c.wantNotes(c.cyd, guardian.NoteSuspected)
	c.advance(patience / 2)
	c.wantHolders(c.cyd)
}

// Otherwise repeated Yields would make the next rank wait for ever.
func TestARepeatedYieldPostponesNothing(t *testing.T) {
	c := newCircle(t)
	c.bob.dead = true
	said := message(guardian.KindYield, c.ann, c.cyd, theToken)
	c.yield()
	for range 8 {
		c.advance(patience / 8)
		c.receive(said)
	}
	c.advance(latency)
	c.wantHolders(c.cyd)
}

// A holder that sends a heartbeat after its Yield holds the token: the Yield is void, and only a whole silence leads to
// suspicion.
func TestAHeartbeatAfterAYieldVoidsIt(t *testing.T) {
	c := newCircle(t)
	c.bob.dead, c.ann.dead = true, true
	c.receive(message(guardian.KindYield, c.ann, c.cyd, theToken))
	heartbeat := message(guardian.KindHeartbeat, c.ann, c.cyd, theToken)
	c.receive(heartbeat) // a replay of the first heartbeat
	c.advance(patience/2 - latency)
	heartbeat.Nonce = 100
	c.receive(heartbeat)
	c.advance(2*patience - 1)
	c.wantHolders()
	c.wantEndings(c.cyd)
}

func TestAYieldIsAboutTheHolderAndTheNumberThatAreKnown(t *testing.T) {
	unlisted := since(theToken, 6)
	unlisted.SetTrail(&guardian.Trail{cydsID})
	for name, tc := range map[string]struct {
		from  wire.MemberID
		token guardian.Token
		want  bool
	}{
		"of the holder":                          {annsID, theToken, true},
		"of somebody else, by the same number":   {dansID, theToken, false},
		"of the holder, by a later number":       {annsID, since(theToken, 6), true},
		"of a later holder with other guardians": {dansID, unlisted, false},
		"by an older number":                     {annsID, since(theToken, 4), false},
		"of another token":                       {annsID, born(9, 5, bobsID), false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newPassed(t)
			m := message(guardian.KindYield, c.find(tc.from), c.bob, tc.token)
			if got := c.bob.g.Expects(&m, nil); got != tc.want {
				t.Errorf("expected: %v, want %v", got, tc.want)
			}
			c.receive(m)
			if got := c.bob.holds; got != tc.want {
				t.Errorf("revived: %v, want %v", got, tc.want)
			}
		})
	}
}

// A member that knows of the removal of a token, or that is leaving, does not revive it after a Yield.
func TestAYieldRevivesNoTokenThatWasRemoved(t *testing.T) {
	c := newCircle(t)
	c.receive(message(guardian.KindTombstone, c.dan, c.bob, since(theToken, 9)))
	c.receive(message(guardian.KindYield, c.ann, c.bob, since(theToken, 6)))
	c.cyd.g.Close()
	c.receive(message(guardian.KindYield, c.ann, c.cyd, since(theToken, 6)))
	c.wantEndings(c.bob)
	c.wantEndings(c.cyd)
}

// A copy with a higher number was yielded, so the lower copy that is held here is overtaken.
func TestAHolderThatHearsOfAYieldedHigherNumberIsOvertaken(t *testing.T) {
	c := newCircle(t)
	c.receive(message(guardian.KindYield, c.dan, c.ann, since(theToken, 9)))
	c.wantEndings(c.ann, guardian.Overtaken)
	c.wantHolders()
}

// A copy that got a tombstone after its holder gave it up is not taken back by a holder that finds itself alone: it
// would bring a removed token back.
func TestATokenThatWasRemovedAfterItsYieldIsNotTakenBack(t *testing.T) {
	for name, tombstone := range map[string]bool{"removed": true, "not removed": false} {
		t.Run(name, func(t *testing.T) {
			c := newCircle(t)
			c.ann.holds = false
			c.took(c.ann, wire.MemberID{}, guardian.Outcome{}, c.ann.g.Yield(c.now, &c.ann.token, nil))
			if tombstone {
				c.receive(message(guardian.KindTombstone, c.dan, c.ann, since(theToken, 9)))
			}
			var end guardian.Outcome
			c.ann.g.TakeBack(&end)
			if revived := end.Ending == guardian.Revived; revived == tombstone {
				t.Errorf("it takes the token back: %v", revived)
			}
		})
	}
}

// A member that cannot know whether any other hears it repeats that it has given its token up, at growing intervals:
// after one patience, two, and so on up to sixty-four.
func TestAYieldThatNobodyAnswersIsRepeatedAtGrowingIntervals(t *testing.T) {
	c := newCircle(t)
	c.lose = func(*wire.Message) bool { return true }
	c.ann.holds = false
	c.bob.dead, c.cyd.dead, c.dan.dead = true, true, true
	c.took(c.ann, wire.MemberID{}, guardian.Outcome{}, c.ann.g.Yield(c.now, &c.ann.token, nil))
	var at []time.Duration
	c.sent = nil
	for len(at) < 10 {
		wake, ok := c.ann.g.NextWake(nil)
		if !ok {
			t.Fatal("it is not woken any more")
		}
		c.advance(wake.Sub(c.now))
		for _, s := range c.sent {
			if strings.HasSuffix(s, "ann→bob Yield") {
				at = append(at, c.now.Sub(began))
			}
		}
		c.sent = nil
	}
	for i := range 9 {
		// A question of half a patience, and then the interval.
		if want := patience/2 + patience<<min(i+1, 6); at[i+1]-at[i] != want {
			t.Errorf("repetition %d comes %v after the one before, want %v", i+1, at[i+1]-at[i], want)
		}
	}
}

// The member asks all others, but not itself.
func TestAHolderThatYieldedDoesNotAskAboutItsToken(t *testing.T) {
	c := newCircle(t)
	c.ann.holds = false
	c.took(c.ann, wire.MemberID{}, guardian.Outcome{}, c.ann.g.Yield(c.now, &c.ann.token, nil))
	c.bob.dead, c.cyd.dead = true, true
	wake, _ := c.ann.g.NextWake(nil)
	c.advance(wake.Sub(c.now))
	c.sent = nil
	c.took(c.ann, wire.MemberID{}, guardian.Outcome{},
		c.ann.g.AskOthers([]wire.MemberID{annsID, bobsID, cydsID, dansID}, nil, nil))
	if len(c.sent) != 1 || !strings.HasSuffix(c.sent[0], "ann→dan Ask") {
		t.Errorf("it sends %v", c.sent)
	}
}

// A copy that a member has given up itself, because it heard nobody, "gives way to any token that has" a holder. A copy
// that it guards for another does not.
func TestAHolderThatYieldedGuardsAYoungerToken(t *testing.T) {
	for _, own := range []bool{true, false} {
		c := newCircle(t)
		guard := c.bob
		if own {
			c.ann.holds = false
			c.took(c.ann, wire.MemberID{}, guardian.Outcome{}, c.ann.g.Yield(c.now, &c.ann.token, nil))
			guard = c.ann
		}
		younger := born(20, 9, guard.id)
		c.receive(message(guardian.KindHeartbeat, c.dan, guard, younger))
		last, holder := guard.g.Last()
		if turns := last.ID == younger.ID && holder == c.dan.id; turns != own {
			t.Errorf("its own copy: %v; it turns to the younger token: %v", own, turns)
		}
	}
}
