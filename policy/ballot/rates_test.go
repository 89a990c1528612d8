package ballot_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// Renewals notice clocks whose rates differ by more than the rules allow, and no others, whatever the network does.
func TestClocksOfDifferentRatesAreNoticed(t *testing.T) {
	for name, tc := range map[string]struct {
		rate float64
		want bool
	}{
		"as allowed, fast": {1.02, false},
		"as allowed, slow": {0.981, false},
		"too fast":         {1.03, true},
		"too slow":         {0.97, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCircle(t, 3)
			dice := rand.New(rand.NewPCG(1, 1))
			c.elect(0)
			c.need()
			origin := c.now
			for range 200 {
				questions := c.air
				c.air = nil
				for _, q := range questions {
					c.now = c.now.Add(time.Duration(dice.Int64N(int64(patience / 2))))
					here := c.now
					c.now = origin.Add(time.Duration(float64(c.now.Sub(origin)) * tc.rate))
					answer := c.receive(q)
					c.now = here.Add(time.Duration(dice.Int64N(int64(patience / 2))))
					c.receive(answer[0])
				}
				for c.air = nil; len(c.air) == 0; {
					at, _ := c.m[0].NextWake()
					c.now = at
					c.wake(0)
				}
			}
			noticed := slices.Contains(c.notes, ballot.NoteClockRates)
			if noticed != tc.want {
				t.Errorf("noticed: %v", noticed)
			}
			var named wire.MemberID
			for _, f := range c.m[0].Facts(c.now, nil) {
				if f.Key == policy.KeyClockRate {
					named = f.Member
					rank, _ := c.roster.Rank(named)
					if !strings.HasPrefix(f.Text, "the clock of "+c.roster.Name(rank)+" runs ") ||
						!strings.Contains(f.Text, " % "+map[bool]string{true: "faster", false: "slower"}[tc.rate > 1]+
							" than that of a, and each may be wrong by 1 %") || strings.Contains(f.Text, " -") {
						t.Errorf("it says %q", f.Text)
					}
				}
			}
			if named.IsZero() == tc.want {
				t.Errorf("the fact names %v", named)
			}
		})
	}
}

// A member that was started again has a clock with another origin: that is no other rate.
func TestARestartIsNoOtherRate(t *testing.T) {
	c := newCircle(t, 3)
	c.elect(0)
	c.renew()
	var memo policy.Memo
	c.m[1].Memo(&memo)
	for i := range 20 {
		at, _ := c.m[0].NextWake()
		c.now = at
		c.wake(0)
		if i == 3 {
			c.now = c.now.Add(-time.Minute)
			c.m[1] = c.restart(1, &memo)
			c.now = c.now.Add(time.Minute)
		}
		c.deliver()
	}
	if slices.Contains(c.notes, ballot.NoteClockRates) {
		t.Fatal("a restart was taken for a clock of another rate")
	}
}

// A member that answers no more does not keep the clocks of the others from being compared.
func TestAMemberThatIsGoneIsNotComparedForEver(t *testing.T) {
	const rate = 1.1
	c := newCircle(t, 3)
	c.elect(0)
	c.need()
	origin := c.now
	for i := range 600 {
		questions := c.air
		c.air = nil
		for _, q := range questions {
			switch rank, _ := c.roster.Rank(q.To); {
			case rank == 1 && i < 3, rank == 2 && i >= 3:
				here := c.now
				if rank == 2 {
					c.now = origin.Add(time.Duration(float64(c.now.Sub(origin)) * rate))
				}
				answer := c.receive(q)
				c.now = here.Add(time.Millisecond)
				c.receive(answer[0])
			}
		}
		for c.air = nil; len(c.air) == 0; {
			at, _ := c.m[0].NextWake()
			c.now = at
			c.wake(0)
		}
	}
	if !slices.Contains(c.notes, ballot.NoteClockRates) {
		t.Error("a clock that runs a tenth too fast was not noticed")
	}
}

// A member that answers no more is compared with this one's clock no longer: after 64 leases another one takes its
// place, and its clock is noticed.
func TestAMemberThatIsGoneLeavesItsPlaceInTheComparison(t *testing.T) {
	const leaves, rate = 5, 1.1
	c := newCircle(t, 3)
	c.elect(0)
	c.need()
	origin := c.now
	for round := range 800 {
		questions := c.air
		c.air = nil
		for _, q := range questions {
			here, to := c.now, q.To
			if first := to == c.roster.ID(1); first != (round < leaves) {
				continue // At first only member 1 answers, and then only member 2.
			}
			c.now = origin.Add(time.Duration(float64(c.now.Sub(origin)) * rate))
			if to == c.roster.ID(1) {
				c.now = here
			}
			answer := c.receive(q)
			c.now = here
			c.receive(answer[0])
		}
		for c.air = nil; len(c.air) == 0; {
			c.now, _ = c.m[0].NextWake()
			c.wake(0)
		}
	}
	if !slices.Contains(c.notes, ballot.NoteClockRates) {
		t.Error("the clock of member 2 is not compared")
	}
	f := policy.Find(c.m[0].Facts(c.now, nil), policy.KeyClockRate)
	if f == nil || !strings.Contains(f.Text, " 10.00 %") {
		t.Errorf("its clock is faster by a tenth, and the fact is %+v", f)
	}
}
