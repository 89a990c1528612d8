package ballot_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
)

// soaks lets member 0 of three run, and its host soaks.
func soaks(t *testing.T) *circle {
	t.Helper()
	c := newCircle(t, 3)
	c.elect(0)
	c.need()
	c.deliver()
	c.step(0, func(m *ballot.Machine, _ *ballot.Outcome, out []policy.Effect) []policy.Effect {
		out, ok := m.Run(c.now, out)
		if !ok {
			t.Fatal("no run begins")
		}
		return out
	})
	c.soak(0)
	c.deliver()
	return c
}

func (c *circle) soak(i int) {
	c.t.Helper()
	c.step(i, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
		return m.Soaks(c.now, soak, end, out)
	})
}

func TestNoNewerEpochIsPromisedBeforeTheSoakOfADeadHostIsOver(t *testing.T) {
	c := soaks(t)
	c.now = c.now.Add(soak - time.Second)
	if c.promises(5000) {
		t.Error("a supporter promises a newer epoch in the soak")
	}
	if facts := c.m[2].Facts(c.now, nil); policy.Find(facts, policy.KeySoakUntil) == nil {
		t.Error("its status does not say why")
	}
	if c.now = c.now.Add(2 * time.Second); !c.promises(5001) {
		t.Error("a supporter waits for longer than the soak")
	}
}

// Each renewal says what is left, so what counts is when the soak began.
func TestEachRenewalSaysWhatIsLeftOfASoak(t *testing.T) {
	c := soaks(t)
	for end := c.now.Add(soak / 2); c.now < end; {
		c.advance(lease / 4)
		c.deliver()
	}
	if left := c.m[2].SoakUntil().Sub(c.now); left < soak/2-lease || left > soak/2 {
		t.Errorf("%v are left", left)
	}
	if c.m[0].Until() <= c.now {
		t.Error("the holder has no lease")
	}
}

func TestASoakThatEndsEarlyKeepsNobodyWaiting(t *testing.T) {
	for name, ends := range map[string]func(c *circle){
		"it says so": func(c *circle) {
			c.step(0, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
				return m.EndSoak(c.now, end, out)
			})
		},
		"it releases the token": func(c *circle) {
			c.step(0, func(m *ballot.Machine, _ *ballot.Outcome, out []policy.Effect) []policy.Effect {
				return m.Release(c.now, out)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := soaks(t)
			c.advance(time.Minute)
			c.deliver()
			ends(c)
			c.deliver()
			if c.now = c.now.Add(lease); !c.promises(5000) {
				t.Error("a supporter waits for a soak that is over")
			}
		})
	}
}

// Whoever hears nobody says so to nobody: a probe lends nothing, and ends nothing.
func TestAProbeSaysNothingOfASoak(t *testing.T) {
	c := soaks(t)
	probe := c.ask(ballot.KindRenew, 0, 2, c.m[0].Token().Seq, 77)
	ballot.SetLoad(&probe.Load, c.roster.Hash(), lease, 1)
	c.receive(probe)
	if c.m[2].SoakUntil() <= c.now {
		t.Error("a probe has ended the soak")
	}
}

// Within an epoch, the numbers rise from run to run.
func TestALateRenewalOfAnEarlierRunSaysNothingOfASoak(t *testing.T) {
	c := soaks(t)
	late := c.ask(ballot.KindRenew, 1, 2, c.m[0].Token().Seq-1, 77)
	c.receive(late)
	if c.m[2].SoakUntil() <= c.now {
		t.Error("it has ended the soak")
	}
	c.step(0, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
		return m.EndSoak(c.now, end, out)
	})
	c.deliver()
	ballot.SetLoad(&late.Load, c.roster.Hash(), lease, 4)
	ballot.SetClaim(&late.Load, soak, 0)
	late.Exchange = 78
	if c.receive(late); c.m[2].SoakUntil() > c.now {
		t.Error("the soak of an earlier run has begun again")
	}
}

// Whatever a message says, and whoever sends it.
func TestNobodyPromisesNothingForLongerThanItsOwnSoak(t *testing.T) {
	c := newCircle(t, 3)
	c.elect(0)
	c.m[2].Tune(time.Minute)
	lie := c.ask(ballot.KindRenew, 0, 2, c.m[0].Token().Seq, 77)
	ballot.SetLoad(&lie.Load, c.roster.Hash(), lease, 4)
	ballot.SetClaim(&lie.Load, 1000*time.Hour, 0)
	c.receive(lie)
	if until := c.m[2].SoakUntil(); until != c.now.Add(time.Minute) {
		t.Errorf("it waits for %v", until.Sub(c.now))
	}
	if ballot.SetClaim(&lie.Load, -1, 0); ballot.WellFormed(&lie) {
		t.Error("a soak of which less than nothing is left is well-formed")
	}
}

// It is asked for leases that outlive it anyway, and those are on the disks.
func TestAHolderWhoseGrantIsKeptSaysNothingOfItsSoak(t *testing.T) {
	c := kept(t)
	c.soak(0)
	c.advance(lease)
	c.deliver()
	if c.m[2].SoakUntil() != 0 {
		t.Error("it does")
	}
}

func TestASoakWithoutATokenIsNoNews(t *testing.T) {
	c := newCircle(t, 3)
	c.soak(0)
	if len(c.air) > 0 {
		t.Errorf("it sends %v", c.air[0].Kind)
	}
}
