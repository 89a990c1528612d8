package guardian_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// soaks lets the host of a holder soak.
func (c *circle) soaks(m *member) {
	c.t.Helper()
	m.g.Soaks(c.now, soak, m.held())
	c.took(m, wire.MemberID{}, guardian.Outcome{}, m.g.Heartbeat(c.now, m.held(), nil))
}

// wantLeft checks for how long a holder does not use its token: for as long as is left of a soak. What was told several
// times may have been rounded up several times.
func (c *circle) wantLeft(m *member, left time.Duration) {
	c.t.Helper()
	got := max(m.g.Unused().Sub(c.now), 0)
	if least, most := left, left+left/4+time.Second; got < least || left > 0 && got > most || left == 0 && got > 0 {
		c.t.Fatalf("%s does not use the token for %v; %v are left of the soak", m.name, got, left)
	}
}

func TestALoadTellsWhatIsLeftOfASoakRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left := time.Duration(rapid.Int64Range(0, int64(30*365*24*time.Hour)).Draw(t, "left"))
		if rapid.Bool().Draw(t, "short") {
			left %= time.Minute
		}
		var load wire.Load
		guardian.SetSoakLeft(&load, left)
		if told := guardian.SoakLeft(&load); told < left || told > left+left/8+time.Second/8 {
			t.Errorf("%v are told as %v", left, told)
		}
	})
}

func TestEveryByteTellsATimeThatItIsTheByteFor(t *testing.T) {
	last := time.Duration(-1)
	for b := range 256 {
		var load, again wire.Load
		load[len(load)-1] = byte(b)
		left := guardian.SoakLeft(&load)
		if guardian.SetSoakLeft(&again, left); left <= last || again != load && left <= 34*365*24*time.Hour {
			t.Errorf("%d tells %v, which has the byte %d; the one before tells %v", b, left, again[len(again)-1], last)
		}
		last = left
	}
}

func TestNoTimeIsTooLongOrTooShortToBeTold(t *testing.T) {
	for left, want := range map[time.Duration]time.Duration{
		math.MinInt64: 0, -1: 0, 1: time.Second / 8, math.MaxInt64: time.Second << 30,
	} {
		var load wire.Load
		guardian.SetSoakLeft(&load, left)
		if told := guardian.SoakLeft(&load); told != want {
			t.Errorf("%v are told as %v", left, told)
		}
	}
}

func TestAGuardianKeepsTheTokenUnusedForTheRestOfASoak(t *testing.T) {
	c := newCircle(t)
	c.soaks(c.ann)
	c.advance(4 * time.Minute)
	c.ann.dead = true
	c.advance(2 * patience)
	c.wantHolders(c.bob)
	c.wantLeft(c.bob, 6*time.Minute-2*patience)
}

// The first heartbeat of the soak is enough.
func TestAHolderMayDieAtTheBeginningOfItsSoak(t *testing.T) {
	c := newCircle(t)
	c.soaks(c.ann)
	c.advance(latency)
	c.ann.dead = true
	c.advance(2 * patience)
	c.wantLeft(c.bob, soak-2*patience)
}

func TestTheRestOfASoakOutlivesTheGuardian(t *testing.T) {
	c := newCircle(t)
	c.soaks(c.ann)
	c.advance(2 * time.Minute)
	c.ann.dead = true
	c.advance(2 * time.Minute)
	c.wantHolders(c.bob)
	token := c.bob.token
	token.SetTrail(&guardian.Trail{cydsID})
	c.hold(c.bob, token)
	c.advance(time.Minute)
	c.bob.dead = true
	c.advance(2 * patience)
	c.wantHolders(c.cyd)
	c.wantLeft(c.cyd, 5*time.Minute-2*patience)
	if c.advance(7 * time.Minute); c.cyd.g.Unused() > c.now {
		t.Error("the token is not used, and the soak is over")
	}
}

// A guardian that leaves passes the token on.
func TestTheRestOfASoakGoesWithTheToken(t *testing.T) {
	c := newCircle(t)
	c.soaks(c.ann)
	c.advance(2 * time.Minute)
	c.ann.dead = true
	c.advance(2 * time.Minute)
	c.pass(c.bob, c.dan)
	c.wantLeft(c.dan, 6*time.Minute)
}

func TestASoakThatEndsEarlyLeavesNothing(t *testing.T) {
	c := newCircle(t)
	c.soaks(c.ann)
	c.advance(2 * time.Minute)
	if !c.ann.g.EndSoak(c.now, false, c.ann.held()) {
		t.Fatal("it was not early")
	}
	c.took(c.ann, wire.MemberID{}, guardian.Outcome{}, c.ann.g.Heartbeat(c.now, c.ann.held(), nil))
	c.advance(latency)
	c.ann.dead = true
	c.advance(2 * patience)
	c.wantHolders(c.bob)
	c.wantLeft(c.bob, 0)
}

// A holder that is stopped passes the token on before its host has soaked.
func TestASoakThatGoesOnGoesWithTheToken(t *testing.T) {
	c := newCircle(t)
	c.soaks(c.ann)
	c.advance(4 * time.Minute)
	if c.ann.g.EndSoak(c.now, true, c.ann.held()) {
		t.Error("the guardians are told of its end")
	}
	c.wantLeft(c.ann, 6*time.Minute)
	c.pass(c.ann, c.dan)
	c.wantLeft(c.dan, 6*time.Minute)
}

func TestASoakThatIsOverIsNoNews(t *testing.T) {
	c := newCircle(t)
	c.soaks(c.ann)
	c.advance(soak)
	if c.ann.g.EndSoak(c.now, false, c.ann.held()) {
		t.Error("the guardians are told of the end of a soak that they have counted themselves")
	}
	if left := guardian.SoakLeft(&c.ann.token.Load); left != 0 {
		t.Errorf("%v are left", left)
	}
}

// Whatever a message says, and whoever sends it.
func TestNobodyWaitsForLongerThanItsOwnSoak(t *testing.T) {
	for _, own := range []time.Duration{soak, 0} {
		c := newCircle(t)
		c.bob.g.Tune(own)
		lie := message(guardian.KindHeartbeat, c.ann, c.bob, since(theToken, 6))
		guardian.SetSoakLeft(&lie.Load, 30*365*24*time.Hour)
		c.receive(lie)
		c.ann.dead = true
		c.advance(2 * patience)
		c.wantHolders(c.bob)
		c.wantLeft(c.bob, max(own-2*patience, 0))
	}
}

// A holder that hears nobody gives its token up, and perhaps takes it back.
func TestAMemberThatTakesItsTokenBackKeepsItUnused(t *testing.T) {
	c := newCircle(t)
	c.soaks(c.ann)
	c.advance(time.Minute)
	c.ann.dead = true
	c.advance(2 * patience)
	c.bob.g.See(c.now, c.bob.held())
	c.bob.holds = false
	c.took(c.bob, wire.MemberID{}, guardian.Outcome{}, c.bob.g.Yield(c.now, &c.bob.token, nil))
	c.cyd.dead, c.dan.dead = true, true
	c.advance(4 * time.Minute)
	var end guardian.Outcome
	c.bob.g.See(c.now, nil)
	c.bob.g.TakeBack(&end)
	if c.end(c.bob, end); !c.bob.holds {
		t.Fatal("it has not taken the token back")
	}
	c.wantLeft(c.bob, 5*time.Minute-2*patience)
}

// The copy of a token that comes while a host soaks is one whose former holder has soaked, too.
func TestBothSoaksCountForATokenThatComesInASoak(t *testing.T) {
	c := newCircle(t)
	c.soaks(c.ann)
	c.advance(8 * time.Minute)
	other := born(5, 3, bobsID)
	guardian.SetSoakLeft(&other.Load, 5*time.Minute)
	c.hold(c.ann, other)
	c.advance(time.Minute)
	c.ann.g.See(c.now, c.ann.held())
	if left := guardian.SoakLeft(&c.ann.token.Load); left < 4*time.Minute {
		t.Errorf("%v are left", left)
	}
	c.ann.g.EndSoak(c.now, false, c.ann.held())
	if left := guardian.SoakLeft(&c.ann.token.Load); left < 4*time.Minute {
		t.Errorf("%v are left after the end of its own soak", left)
	}
	c.wantLeft(c.ann, 4*time.Minute)
}
