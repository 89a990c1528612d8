package ballot_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
)

// lengthen gives members another lease, in a new life: twice as long.
func (c *circle) lengthen(members ...int) {
	c.t.Helper()
	for _, i := range members {
		cfg := c.config(i)
		cfg.Lease, cfg.MostLease = 2*lease, 2*lease
		m := ballot.New(cfg)
		m.Start(c.now, &policy.State{})
		c.m[i] = &m
	}
	c.now = c.now.Add(2 * lease)
}

// A member whose lease a majority refuses because of its length wins no epoch. For a lease it does as if it did not
// want to run, and says why; it tries again then, because the others may have got its lease meanwhile.
func TestAMemberWhoseLeaseIsTooLongSaysSo(t *testing.T) {
	c := newCircle(t, 3)
	c.lengthen(0)
	c.m[0].Propose(c.now, 0)
	c.wake(0)
	if end := c.deliver(); end.Ending != ballot.Pending {
		t.Fatalf("it has won: %+v", end)
	}
	c.wantNotes(ballot.NoteProposed, ballot.NoteLeaseTooLong, ballot.NoteLeaseTooLong, ballot.NoteLeaseRefused,
		ballot.NoteWithdrew)
	if until := c.m[0].Overlong(); until != c.now.Add(2*lease) {
		t.Errorf("it wants nothing for %v", until.Sub(c.now))
	}
	const why = "lease = 16s is longer than allowed by b, c: 8s"
	if got := c.m[0].Missing(); got != why || c.m[0].HasMajority(c.now) {
		t.Errorf("it says %q, and has a majority: %v", got, c.m[0].HasMajority(c.now))
	}
	c.lengthen(1, 2)
	c.m[0].Desist(c.now, nil)
	c.elect(0)
	if !c.m[0].HasMajority(c.now) || c.m[0].Missing() != "" {
		t.Errorf("all have its lease, and it misses a majority: %s", c.m[0].Missing())
	}
}

// One member that refuses is no majority.
func TestAMemberWithAShorterLeaseKeepsNobodyFromRunning(t *testing.T) {
	c := newCircle(t, 3)
	c.lengthen(0, 1)
	c.elect(0)
	c.renew()
	if until := c.m[0].Overlong(); until != 0 {
		t.Errorf("the holder wants nothing for %v", until.Sub(c.now))
	}
	c.step(0, func(m *ballot.Machine, _ *ballot.Outcome, out []policy.Effect) []policy.Effect {
		out, ok := m.Run(c.now, out)
		if !ok {
			t.Error("it may not run")
		}
		return out
	})
}

// A lease that came with the token does not help a holder that cannot renew it: its command would be stopped.
func TestNothingRunsUnderALeaseThatCannotBeRenewed(t *testing.T) {
	c := newCircle(t, 3)
	c.lengthen(0)
	token := c.elect(1)
	c.m[1].LetGo()
	c.m[0].Hold(c.now, &token, 0, lease, nil)
	c.need()
	c.deliver()
	if until := c.m[0].Until(); until.Sub(c.now) < lease/2 || c.m[0].Overlong() < until {
		t.Fatalf("it has a lease for %v, and wants nothing for %v", until.Sub(c.now), c.m[0].Overlong().Sub(c.now))
	}
	c.step(0, func(m *ballot.Machine, _ *ballot.Outcome, out []policy.Effect) []policy.Effect {
		out, ok := m.Run(c.now, out)
		if ok {
			t.Error("it runs")
		}
		return out
	})
}

// A grant that only its holder would keep is refused in the same way.
func TestAKeepThatIsTooLongIsSaid(t *testing.T) {
	c := newCircle(t, 3)
	cfg := c.config(0)
	cfg.Keep = keep
	m := ballot.New(cfg)
	m.Start(c.now, &policy.State{})
	c.m[0], c.now = &m, c.now.Add(keep)
	c.elect(0)
	c.m[0].Keeps()
	c.need()
	c.deliver()
	const why = "keep = 15m0s is longer than allowed by b, c: 0s"
	if got := c.m[0].Missing(); got != why || c.m[0].Overlong() < c.now.Add(lease) {
		t.Errorf("it says %q, and wants nothing for %v", got, c.m[0].Overlong().Sub(c.now))
	}
}

// A refusal that names a lease as long as the one that was asked for, or none, is like any other.
func TestOnlyAShorterLeaseIsAReasonToRefuse(t *testing.T) {
	for _, allowed := range []time.Duration{0, -1, lease, lease + 1} {
		c := newCircle(t, 3)
		c.elect(0)
		c.need()
		for _, m := range c.air {
			rank, _ := c.roster.Rank(m.To)
			no := c.ask(ballot.KindRefused, rank, 0, m.Token.Seq, m.Exchange)
			ballot.SetAllowed(&no.Load, allowed)
			c.receive(no)
		}
		if until := c.m[0].Overlong(); until != 0 {
			t.Errorf("%v: the holder wants nothing for %v", allowed, until.Sub(c.now))
		}
	}
}
