package ballot_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

const night = 20 * time.Hour

// claims is a Renew to member 2 that claims an interval, or lifts a claim if it is negative.
type claims struct {
	from     int
	life     uint64
	hop      wire.Seq
	interval time.Duration
}

// ask lets member 2 answer, and returns for how long it supports another claim, and whose; it supports this one if that
// is zero.
func (q claims) ask(c *circle) (busy time.Duration, by wire.MemberID) {
	c.t.Helper()
	msg := c.ask(ballot.KindRenew, q.from, 2, epoch(5, 0)+q.hop, c.number())
	ballot.SetClaim(&msg.Load, q.interval, q.life)
	if !ballot.WellFormed(&msg) {
		c.t.Fatalf("not well-formed: %+v", msg)
	}
	sent := c.receive(msg)
	busy, _ = c.wantAnswer(sent, ballot.KindRenewed)
	return busy, ballot.ClaimerOf(&sent[0].Load)
}

func (q claims) isGiven(c *circle) bool {
	c.t.Helper()
	busy, _ := q.ask(c)
	return busy == 0
}

// newClaimed returns members of which member 2 supports the claim of member 0 for a night.
func newClaimed(t *testing.T) (*circle, claims) {
	t.Helper()
	c, q := newCircle(t, 3), claims{from: 0, life: 7, hop: 1, interval: night}
	if !q.isGiven(c) {
		t.Fatal("the first claim is refused")
	}
	return c, q
}

// lifts is the end of a claim, two hops later.
func (q claims) lifts() claims {
	q.hop, q.interval = q.hop+2, -1
	return q
}

// "That member supports no other claim before the first one is over", and says whose that is.
func TestAnIntervalIsOneMembers(t *testing.T) {
	c, _ := newClaimed(t)
	other := claims{from: 1, life: 8, hop: 5, interval: night}
	c.now = c.now.Add(time.Hour)
	if busy, by := other.ask(c); busy != night-time.Hour || by != c.roster.ID(0) {
		t.Errorf("busy for %v with the claim of %v", busy, by)
	}
	c.reboot(2)
	if c.now = c.now.Add(night - time.Hour - time.Second); other.isGiven(c) {
		t.Error("a supporter that has started again gives the interval to another member")
	}
	if c.now = c.now.Add(time.Second); !other.isGiven(c) {
		t.Error("the interval is over, and is given to nobody")
	}
}

// The longest interval that a gate may have can be claimed, and no longer one.
func TestTheLongestIntervalCanBeClaimed(t *testing.T) {
	for over, want := range map[time.Duration]bool{0: true, 1: false} {
		c := newCircle(t, 3)
		msg := c.ask(ballot.KindRenew, 0, 2, epoch(5, 0), c.number())
		ballot.SetClaim(&msg.Load, policy.LongestClaim+over, 7)
		c.receive(msg)
		if claimed := policy.Find(c.m[2].Facts(c.now, nil), policy.KeyClaimed) != nil; claimed != want {
			t.Errorf("an interval of %v is claimed: %v", policy.LongestClaim+over, claimed)
		}
	}
}

// A claim is told for as long as it counts.
func TestAStatusTellsOfAClaimUntilItIsOver(t *testing.T) {
	c, _ := newClaimed(t)
	for after, want := range map[time.Duration]bool{0: true, night: false} {
		if told := policy.Find(c.m[2].Facts(c.now.Add(after), nil), policy.KeyClaimed) != nil; told != want {
			t.Errorf("after %v, a claim is told: %v", after, told)
		}
	}
}

// A renewal that is under way has asked for no claim. A holder that is to claim asks for both at once, and one that is
// to claim nothing goes on.
func TestAHolderThatIsToClaimDoesNotWaitForARenewalWithoutAClaim(t *testing.T) {
	for interval, again := range map[time.Duration]bool{night: true, 0: false} {
		c := newCircle(t, 3)
		c.elect(0)
		if interval == 0 {
			c.m[0].Claims(night)
		}
		c.need()
		before := c.air
		c.air = nil
		c.m[0].Claims(interval)
		if c.need(); len(before) == 0 || len(c.air) > 0 != again {
			t.Errorf("a claim of %v: it has sent %d messages, and then %d", interval, len(before), len(c.air))
		}
	}
}

// "Only the same life of the same member may claim again": before its run it may have to, and it must say so.
func TestAMemberThatStartsAgainClaimsNothingAgain(t *testing.T) {
	c, q := newClaimed(t)
	if q.hop = 4; !q.isGiven(c) {
		t.Error("the same life is refused")
	}
	if q.life = 8; q.isGiven(c) {
		t.Error("another life of the same member is not refused")
	}
	if l := q.lifts(); !l.isGiven(c) || q.isGiven(c) {
		t.Error("another life ends the claim")
	}
}

// "A claim that is late is not recorded again after it was lifted", and the end of one does not end a later one.
func TestTheHopsOrderClaims(t *testing.T) {
	c, q := newClaimed(t)
	q.lifts().isGiven(c)
	if q.isGiven(c) {
		t.Error("a claim that is over is given once more")
	}
	next := claims{from: 1, life: 8, hop: 6, interval: night}
	if !next.isGiven(c) {
		t.Fatal("a claim that is over keeps others from theirs")
	}
	q.lifts().isGiven(c)
	next.hop = 4
	next.lifts().isGiven(c)
	if later := (claims{from: 0, life: 7, hop: 9, interval: night}); later.isGiven(c) {
		t.Error("the end of an earlier claim has ended a later one")
	}
}

// An operator's word ends what was claimed before it.
func TestWhatWasClaimedBeforeAGateIsResumedIsOver(t *testing.T) {
	c, _ := newClaimed(t)
	other := claims{from: 1, life: 8, hop: 5, interval: night}
	given := c.now
	c.now = c.now.Add(time.Hour)
	if c.m[2].EndClaims(given); other.isGiven(c) {
		t.Error("a word that was given before the claim ends it")
	}
	if c.m[2].EndClaims(given.Add(1)); !other.isGiven(c) {
		t.Error("the claim is not over")
	}
}

// A clock that was set back makes no interval longer.
func TestASavedClaimIsNoLongerThanItsInterval(t *testing.T) {
	c, _ := newClaimed(t)
	s := policy.State{Claim: c.m[2].Claim()}
	s.Claim.Until = s.Claim.Until.Add(1000 * time.Hour)
	m := ballot.New(c.config(2))
	m.Start(c.now, &s)
	if until := m.Claim().Until; until != c.now.Add(night) {
		t.Errorf("the claim ends in %v", until.Sub(c.now))
	}
}

func TestAnIntervalOfYearsIsRefused(t *testing.T) {
	c := newCircle(t, 3)
	msg := c.ask(ballot.KindRenew, 0, 2, epoch(5, 0), 1)
	ballot.SetClaim(&msg.Load, policy.LongestClaim+1, 7)
	c.wantAnswer(c.receive(msg), ballot.KindRefused)
	c.wantNotes(ballot.NoteLeaseTooLong)
	if claim := c.m[2].Claim(); claim.Is() {
		t.Errorf("it supports the claim: %+v", claim)
	}
}

// tries lets member 0, which holds the token, claim the interval, and reports whether it may run.
func (c *circle) tries(absent ...int) (ok bool) {
	c.t.Helper()
	c.m[0].Rest()
	c.m[0].Claims(night)
	c.need()
	c.deliver(absent...)
	c.step(0, func(m *ballot.Machine, _ *ballot.Outcome, out []policy.Effect) []policy.Effect {
		out, ok = m.Run(c.now, out)
		return out
	})
	return ok
}

// "It runs only once a majority has recorded that": one that supports another claim is no part of it.
func TestARunWaitsUntilAMajorityHasRecordedItsClaim(t *testing.T) {
	c := newCircle(t, 3)
	token := c.elect(0)
	other := c.ask(ballot.KindRenew, 1, 2, token.Seq, c.number())
	ballot.SetClaim(&other.Load, night/2, 8)
	c.receive(other)
	if c.tries(1) {
		t.Error("it runs, and the only other member that has answered supports another claim")
	}
	if !c.tries(2) {
		t.Error("two of three have recorded the claim, and it does not run")
	}
}

// "A run that has succeeded leaves its claim": also the member that has run does not run again.
func TestAMemberDoesNotRunTwiceInItsInterval(t *testing.T) {
	c := newCircle(t, 3)
	if c.elect(0); !c.tries() {
		t.Fatal("it does not run")
	}
	c.m[0].Succeeded()
	c.now = c.now.Add(time.Second)
	if c.tries() {
		t.Error("it runs again")
	}
	if by, until, taken := c.m[0].Taken(); !taken || by != c.roster.ID(0) || until.Sub(c.now) < night-time.Minute {
		t.Errorf("taken %v by %v, for %v", taken, by, until.Sub(c.now))
	}
}

// Whoever supports another claim itself does not wait for the others.
func TestAHolderThatSupportsAnotherClaimKnowsThatTheIntervalIsTaken(t *testing.T) {
	c := newCircle(t, 5)
	token := c.elect(0)
	for _, i := range []int{0, 1} {
		other := c.ask(ballot.KindRenew, 3, i, token.Seq, c.number())
		ballot.SetClaim(&other.Load, night, 8)
		c.receive(other)
	}
	if c.tries(2, 4) {
		t.Error("it runs")
	}
	if by, _, taken := c.m[0].Taken(); !taken || by != c.roster.ID(3) {
		t.Errorf("taken: %v, by %v", taken, by)
	}
}

// Once such a claim is lifted, because its run has failed, it keeps nobody waiting: also not who was told late, and has
// become the holder meanwhile.
func TestAClaimThatIsLiftedKeepsNoHolderFromRunning(t *testing.T) {
	c := newCircle(t, 3)
	token := c.elect(0)
	c.need()
	c.deliver()
	c.step(0, func(m *ballot.Machine, _ *ballot.Outcome, out []policy.Effect) []policy.Effect {
		out, _ = m.Run(c.now, out) // So its own claim has a higher number.
		return out
	})
	other := c.ask(ballot.KindRenew, 1, 0, token.Seq, c.number())
	ballot.SetClaim(&other.Load, night, 8)
	c.receive(other)
	ran := c.tries(1)
	if by, _, taken := c.m[0].Taken(); ran || !taken || by != c.roster.ID(1) {
		t.Fatalf("it runs: %v; it supports another claim, and knows that: %v, %v", ran, taken, by)
	}
	lifted := c.ask(ballot.KindRenew, 1, 0, token.Seq+1, c.number())
	ballot.SetClaim(&lifted.Load, -1, 8)
	c.receive(lifted)
	if by, until, taken := c.m[0].Taken(); taken {
		t.Errorf("its interval is taken by %v for %v more", by, until.Sub(c.now))
	}
	c.now = c.now.Add(patience)
	if !c.tries() {
		t.Error("it does not run")
	}
}

// So does one that learns that too many others support another claim: those that are left are no majority.
func TestAHolderThatTooManyRefuseKnowsThatTheIntervalIsTaken(t *testing.T) {
	c := newCircle(t, 5)
	token := c.elect(0)
	for _, i := range []int{2, 3, 4} {
		other := c.ask(ballot.KindRenew, 3, i, token.Seq, c.number())
		if i == 3 {
			other = c.ask(ballot.KindRenew, 4, i, token.Seq, c.number())
		}
		ballot.SetClaim(&other.Load, night, 8)
		c.receive(other)
	}
	if c.tries() {
		t.Error("it runs")
	}
	if _, _, taken := c.m[0].Taken(); !taken {
		t.Error("three of five have refused its claim, and it goes on asking")
	}
}

// If only a few support another claim, and the others do not answer, that claim may be over: its holder asks again
// after a lease, and later after as long again as that claim is old.
func TestAHolderThatAFewRefuseAsksAgainMoreAndMoreRarely(t *testing.T) {
	for age, want := range map[time.Duration]time.Duration{
		0: lease, time.Hour: time.Hour, night - time.Hour: time.Hour,
	} {
		c := newCircle(t, 3)
		other := c.ask(ballot.KindRenew, 2, 1, c.elect(0).Seq, c.number())
		ballot.SetClaim(&other.Load, night-age, 8)
		c.receive(other)
		c.m[0].Claims(night)
		c.need()
		for taken := false; !taken; _, _, taken = c.m[0].Taken() {
			c.deliver(2)
			c.advance(patience)
			if c.m[0].Until() < c.now {
				t.Fatal("its lease is over")
			}
		}
		by, until, _ := c.m[0].Taken()
		if waits := until.Sub(c.now); by != c.roster.ID(2) || waits > want+lease || waits < want-lease {
			t.Errorf("for a claim of %v before, by %v, it waits %v, want %v", age, by, waits, want)
		}
	}
}

// A claim that is repeated, because its run could not begin yet, counts from when it is recorded again: a lease later
// at the earliest, also if the grant is to be kept for much longer than that.
func TestAClaimThatIsRepeatedCountsFromThen(t *testing.T) {
	c := newKeepingCircle(t, 3, keep)
	left := func() time.Duration {
		msg := c.ask(ballot.KindRenew, 0, 2, epoch(5, 0)+1, c.number())
		ballot.SetLoad(&msg.Load, c.roster.Hash(), keep, 2)
		ballot.SetClaim(&msg.Load, night, 7)
		c.wantAnswer(c.receive(msg), ballot.KindRenewed)
		claim := c.m[2].Claim()
		return claim.Until.Sub(c.now)
	}
	if d := left(); d != night {
		t.Fatalf("a claim is recorded for %v", d)
	}
	if c.now = c.now.Add(lease / 2); left() != night-lease/2 {
		t.Error("it is recorded again within a lease")
	}
	if c.now = c.now.Add(lease / 2); left() != night {
		t.Error("a lease later, it counts from when it was first made")
	}
}
