package ballot_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

const keep = 15 * time.Minute

// kept lets member 0 of three run under a grant that outlives its host.
func kept(t *testing.T) *circle {
	t.Helper()
	c := newKeepingCircle(t, 3, keep)
	c.elect(0)
	c.m[0].Keeps()
	c.need()
	c.deliver()
	c.air = nil
	var ok bool
	c.step(0, func(m *ballot.Machine, _ *ballot.Outcome, out []policy.Effect) []policy.Effect {
		out, ok = m.Run(c.now, out)
		return out
	})
	if !ok {
		t.Fatal("no run begins under a kept lease")
	}
	return c
}

// reboot lets a member begin a new life with what it has saved.
func (c *circle) reboot(i int) {
	c.t.Helper()
	var memo policy.Memo
	c.m[i].Memo(&memo)
	record := c.m[i].Kept()
	m := ballot.New(c.config(i))
	m.Start(c.now, &policy.State{Memo: memo, Kept: record, Claim: c.m[i].Claim()})
	c.m[i] = &m
}

// resume lets member 0 take up its grant.
func (c *circle) resume() {
	c.t.Helper()
	c.step(0, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
		out, ok := m.Resume(c.now, end, out)
		if !ok {
			c.t.Fatal("there is no grant to take up")
		}
		return out
	})
}

// unkeep lets a member end its kept lease, and saves that.
func (c *circle) unkeep(i int) {
	c.t.Helper()
	c.step(i, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
		return m.Unkeep(c.now, end, out)
	})
	c.deliver()
	if !c.m[i].Unkept() {
		c.t.Fatal("all have answered, and the lease is still kept")
	}
}

// promises reports whether member 2 promises a newer epoch to member 1.
func (c *circle) promises(number int) bool {
	c.t.Helper()
	sent := c.receive(c.ask(ballot.KindPromise, 1, 2, epoch(number, 1), wire.Exchange(number)))
	return len(sent) == 1 && sent[0].Kind == ballot.KindPromised
}

// A kept grant is not released by the guard of its run: the agent may be dying because its host goes down.
func TestTheGuardOfAKeptGrantReleasesNothing(t *testing.T) {
	c := kept(t)
	if len(c.words) > 0 {
		t.Errorf("pre-signed: %+v", c.words)
	}
	if least := c.now.Add(keep / 2); c.run.Until < least {
		t.Errorf("the run ends at %v", c.run.Until.Sub(c.now))
	}
}

// While the host is away no other member gets an epoch, even if the supporters are restarted meanwhile; after keep they
// do. A host that comes back after that has lost its grant.
func TestAHostIsWaitedForAsLongAsItsGrantIsKept(t *testing.T) {
	c := kept(t)
	c.now = c.now.Add(keep - time.Second)
	if c.promises(5000) {
		t.Error("a supporter promises a newer epoch while the host is away")
	}
	c.reboot(2)
	c.now = c.now.Add(keep - time.Second)
	if c.promises(5001) {
		t.Error("a supporter that was restarted does not wait for the host")
	}
	c.now, c.notes = c.now.Add(2*time.Second), nil
	if !c.promises(5002) {
		t.Error("a supporter waits for longer than the grant is kept")
	}
	c.wantNotes(policy.NoteStayedAway)
	if c.now = c.now.Add(lease); !c.promises(5003) {
		t.Error("it promises nothing more")
	}
	c.wantNotes()
	c.reboot(0)
	c.resume()
	c.air = append(c.air, c.ask(ballot.KindPromise, 1, 0, epoch(5004, 1), 9))
	if end := c.deliver(1); end.Ending == ballot.Renewed {
		t.Error("a host that comes back too late has its grant renewed")
	}
}

// A holder that hears nobody promises a newer epoch as soon as its own kept lease is over, as the others do: they may
// have no majority without it.
func TestAHolderPromisesWhenItsKeptLeaseIsOver(t *testing.T) {
	c := kept(t)
	for number, over := range []bool{false, true} {
		sent := c.receive(c.ask(ballot.KindPromise, 1, 0, epoch(6000+number, 1), wire.Exchange(number+1)))
		if promised := len(sent) == 1 && sent[0].Kind == ballot.KindPromised; promised != over {
			t.Errorf("its kept lease is over %v: it promises %v", over, promised)
		}
		c.now = c.now.Add(keep)
	}
}

// As long as the disk of a host may have its grant, its next life may take it up. So nobody is told of the end of the
// leases before that is saved: a late release would end leases on which that life relies.
func TestAKeptGrantIsReleasedWhenItIsGoneFromTheDisk(t *testing.T) {
	c := kept(t)
	released := func() (n int) {
		for i := range c.air {
			if c.air[i].Kind == ballot.KindRelease {
				n++
			}
		}
		return n
	}
	c.stepUnsaved(0, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
		out = m.Unkeep(c.now, end, out)
		if !m.NeedsSave() {
			t.Error("nothing is to be saved")
		}
		return m.Release(c.now, out)
	})
	if n := released(); n != 0 {
		t.Errorf("before the save, %d members are told of the release", n)
	}
	c.did(c.m[0].OnSaved(c.now, false, &c.end, nil))
	if n := released(); n != 2 {
		t.Errorf("after the save, %d members are told of the release", n)
	}
	for i := range c.air {
		if e := c.air[i].Token; c.air[i].Kind == ballot.KindRelease && e.ID != c.run.Token.ID {
			t.Errorf("the release is of %+v, and the run was under %+v", e, c.run.Token)
		}
	}
}

// A disk that fails once does not keep a grant on it for ever: the end of the grant is saved again, also by a member
// that has just started, and so supports no question of its own that a save would go with.
func TestTheEndOfAKeptGrantIsSavedAgainAfterAFailure(t *testing.T) {
	c := kept(t)
	c.reboot(0)
	c.resume()
	c.deliver()
	c.stepUnsaved(0, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
		out = m.Unkeep(c.now, end, out)
		if !m.NeedsSave() {
			t.Error("nothing is to be saved")
		}
		return m.OnSaved(c.now, true, end, out)
	})
	saved := false
	for until := c.now.Add(lease); c.now < until && !saved; {
		c.now, _ = c.m[0].NextWake()
		c.stepUnsaved(0, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
			out = m.Wake(c.instant(), end, out)
			saved = m.NeedsSave()
			return out
		})
	}
	if !saved {
		t.Error("its save has failed, and within a lease it is not saved again")
	}
}

// A host that is back renews its grant. When it hands it back, all wait for an ordinary lease only, and after the
// release for nothing.
func TestAHostThatIsBackHandsItsGrantBack(t *testing.T) {
	c := kept(t)
	c.now = c.now.Add(5 * time.Minute)
	c.reboot(0)
	c.resume()
	if end := c.deliver(); end.Ending != ballot.Renewed || c.m[0].Until() < c.now.Add(keep/2) {
		t.Fatalf("the grant is not renewed: %+v", end)
	}
	c.unkeep(0)
	if k := c.m[2].Kept(); k.Is() {
		t.Errorf("a supporter still keeps %+v", k)
	}
	if c.promises(900) {
		t.Error("a supporter promises a newer epoch within the lease")
	}
	c.step(0, func(m *ballot.Machine, _ *ballot.Outcome, out []policy.Effect) []policy.Effect {
		return m.Release(c.now, out)
	})
	c.deliver()
	c.notes = nil
	if !c.promises(901) {
		t.Error("a supporter waits although the grant was handed back")
	}
	c.wantNotes()
}

// What is late changes nothing: neither does the end of an earlier kept lease end that of this run, nor does a renewal
// from before its end bring it back.
func TestALateMessageNeitherEndsNorRevivesAKeptLease(t *testing.T) {
	c := kept(t)
	renewal := c.ask(ballot.KindRenew, 0, 2, c.m[0].Token().Seq, 77)
	ballot.SetLoad(&renewal.Load, c.roster.Hash(), keep, 2)
	c.unkeep(0)
	end := c.ask(ballot.KindRenew, 0, 2, c.m[0].Token().Seq, 78)
	ballot.SetLoad(&end.Load, c.roster.Hash(), lease, 3)
	c.receive(renewal)
	if k := c.m[2].Kept(); k.Is() {
		t.Errorf("a late renewal brings %+v back", k)
	}
	c.m[0].Rest()
	c.m[0].Keeps()
	c.need()
	c.deliver()
	c.air = nil
	c.receive(end)
	if k := c.m[2].Kept(); !k.Is() {
		t.Error("the late end of an earlier kept lease ends a later one")
	}
}

// A renewal that is late does not change for how long the grant of a later run is kept, although this member has not
// heard that the earlier one ended: the host may have had another configuration then.
func TestALateRenewalIsNotTheKeptGrant(t *testing.T) {
	c := kept(t)
	first := c.m[2].Kept().Token.Seq
	c.step(0, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
		return m.Unkeep(c.now, end, out)
	})
	c.deliver(2)
	c.m[0].Rest()
	c.m[0].Keeps()
	c.need()
	c.deliver()
	c.air = nil
	late := c.ask(ballot.KindRenew, 0, 2, first, 77)
	ballot.SetLoad(&late.Load, c.roster.Hash(), keep-time.Minute, 2)
	c.receive(late)
	if k := c.m[2].Kept(); k.For != keep {
		t.Errorf("it is kept for %v, and not for %v", k.For, keep)
	}
}

// Whoever hears nobody asks for no long lease: the first renewal is an ordinary one.
func TestAHolderThatHearsNobodyKeepsNobodyWaiting(t *testing.T) {
	c := newKeepingCircle(t, 3, keep)
	c.elect(0)
	c.m[0].Keeps()
	c.need()
	for _, m := range c.air {
		c.receive(m)
	}
	c.air = nil
	if c.now = c.now.Add(lease); !c.promises(2000) {
		t.Error("a supporter waits for longer than a lease")
	}
}

// Members that may not keep a grant for so long refuse to.
func TestALeaseThatIsKeptForTooLongIsRefused(t *testing.T) {
	c := newKeepingCircle(t, 3, keep)
	m := c.ask(ballot.KindRenew, 0, 2, epoch(5, 0), 1)
	ballot.SetLoad(&m.Load, c.roster.Hash(), keep+1, 2)
	c.wantAnswer(c.receive(m), ballot.KindRefused)
	c.wantNotes(ballot.NoteLeaseTooLong)
	if kept := c.m[2].Kept(); kept.Is() {
		t.Errorf("it keeps the grant: %+v", kept)
	}
	if ballot.SetLoad(&m.Load, c.roster.Hash(), lease, 5); ballot.WellFormed(&m) {
		t.Error("a Renew that asks for something unknown is well-formed")
	}
}

// Who is busy with the lease of an older epoch has not promised a newer one: the grant is still kept.
func TestAGrantEndsWithANewerEpochOfAMajority(t *testing.T) {
	c := kept(t)
	c.reboot(0)
	c.resume()
	asked := c.air
	c.air = nil
	refuse := func(rank int, promised wire.Seq) ballot.Ending {
		no := c.ask(ballot.KindRefused, rank, 0, asked[0].Token.Seq, asked[0].Exchange)
		ballot.SetLoad(&no.Load, c.roster.Hash(), time.Second, wire.Seq(ballot.EpochOf(promised)))
		c.receive(no)
		return c.end.Ending
	}
	older, newer := epoch(-1000, 1), epoch(5000, 2)
	if refuse(1, older) == ballot.Ended || refuse(2, newer) == ballot.Ended {
		t.Fatal("one has promised a newer epoch, and the grant is lost")
	}
	if refuse(1, newer) != ballot.Ended {
		t.Error("a majority has promised a newer epoch, and the grant is not lost")
	}
}

// A run that asks whether its lease is still kept hears of it when a majority has renewed it since.
func TestAMajorityAnswersWhetherALeaseIsStillKept(t *testing.T) {
	c := kept(t)
	if !c.m[0].AskKeepers() || c.m[0].KeepersAnswered() {
		t.Fatal("nobody has answered since it asks")
	}
	c.wake(0)
	if c.deliver(1, 2); c.m[0].KeepersAnswered() {
		t.Error("nobody has heard it, and the lease is confirmed")
	}
	c.now = c.now.Add(lease)
	c.wake(0)
	if c.deliver(1); !c.m[0].KeepersAnswered() {
		t.Error("a majority has renewed it, and the lease is not confirmed")
	}
	c.m[0].Rest()
	if c.m[0].AskKeepers() {
		t.Error("a holder that renews nothing can ask")
	}
}

// A holder that keeps its grant for longer than it has said before, as after a reload, is waited for as long.
func TestAGrantIsKeptAsLongAsItsHolderHasSaidLast(t *testing.T) {
	c := newKeepingCircle(t, 3, keep)
	for _, lasts := range []time.Duration{keep / 2, keep} {
		msg := c.ask(ballot.KindRenew, 0, 2, epoch(5, 0)+1, c.number())
		ballot.SetLoad(&msg.Load, c.roster.Hash(), lasts, 2)
		c.wantAnswer(c.receive(msg), ballot.KindRenewed)
		if k := c.m[2].Kept(); k.For != lasts {
			t.Errorf("the grant is kept for %v, want %v", k.For, lasts)
		}
	}
}
