package ballot_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// "New epoch: only a proposer with M promises for e … makes the token (e, 0)." (rule 4) "A proposer saves its own epoch
// before it asks." (rule 2)
func TestAProposerWithAMajorityOfPromisesMakesTheToken(t *testing.T) {
	c := newCircle(t, 5)
	c.m[3].Keep(&ballot.Copy{Seq: 77, Data: [ballot.CopySize]byte{1, 2, 3}})
	c.m[1].Propose(c.now, 0)
	began := c.now
	c.stepUnsaved(1, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
		return m.Wake(c.instant(), end, out)
	})
	if !c.m[1].NeedsSave() || len(c.air) != 0 {
		t.Fatalf("it asks before its own promise is saved: %+v", c.air)
	}
	c.now = c.now.Add(30 * time.Millisecond) // A slow disk: the lease counts from before the save.
	c.did(c.m[1].OnSaved(c.now, false, &c.end, nil))
	if c.end.Ending != ballot.Promised || len(c.air) != 4 {
		t.Fatalf("its own promise is %+v, and it asks %d", c.end, len(c.air))
	}
	questions := c.air
	c.air = nil
	for i, want := range []ballot.Ending{ballot.Promised, ballot.Won} {
		to := []int{0, 2}[i] // of 0, 2, 3, 4
		answer := c.receive(questions[to])
		c.wantAnswer(answer, ballot.KindPromised)
		c.now = c.now.Add(time.Millisecond)
		c.receive(answer[0])
		if c.end.Ending != want || c.end.Peer != questions[to].To {
			t.Fatalf("promise %d: %+v", i, c.end)
		}
	}
	if c.end.Copy.Seq != 77 || c.end.Copy.Data[2] != 3 {
		t.Errorf("the promise carries %+v", c.end.Copy)
	}
	e := ballot.EpochOf(c.end.Token.Seq)
	if token := c.m[1].Token(); token == nil || *token != c.end.Token || token.Seq != wire.Seq(e) || e.Rank() != 1 ||
		token.ID.Generator != c.roster.ID(1) {
		t.Errorf("it holds %+v", token)
	}
	if d := c.m[1].Until(); d != began.Add(held) {
		t.Errorf("it may run for %v, want %v", d.Sub(began), held)
	}
	c.wantNotes(ballot.NoteProposed, ballot.NoteWon)
}

// "all within H of its sending the question" (rule 4)
func TestPromisesThatComeTooLateMakeNoToken(t *testing.T) {
	c := newCircle(t, 3)
	c.m[0].Propose(c.now, 0)
	c.wake(0)
	answer := c.receive(c.air[0])
	c.now = c.now.Add(held)
	c.receive(answer[0])
	if c.end.Ending != ballot.Promised || c.m[0].Token() != nil {
		t.Errorf("a late promise: %+v", c.end)
	}
}

// "Too few: it withdraws (supporters end the lease of e and keep promised; e is never used again)." (rule 4)
func TestAProposerWithoutAMajorityWithdraws(t *testing.T) {
	c := newCircle(t, 3)
	c.m[0].Propose(c.now, 0)
	c.wake(0)
	first := c.air[0].Token.Seq
	promised := c.receive(c.air[0])[0]
	c.air = nil
	for c.m[0].Token() == nil && len(c.air) < 2 || c.air[0].Kind != ballot.KindRelease {
		c.air = nil
		at, ok := c.m[0].NextWake()
		if !ok {
			t.Fatal("it waits for ever")
		}
		c.now = at
		c.wake(0)
	}
	c.receive(c.air[0])
	if e, end := c.m[1].Lease(); e != ballot.EpochOf(first) || end > c.now {
		t.Errorf("the supporter has promised %v for %v", e, end.Sub(c.now))
	}
	c.air = nil
	if c.receive(promised); c.m[0].Token() != nil {
		t.Error("a promise of a withdrawn epoch makes a token")
	}
	c.advance(time.Minute)
	for _, m := range c.air {
		if m.Kind == ballot.KindPromise && m.Token.Seq <= first {
			t.Errorf("the next attempt is for %v", ballot.EpochOf(m.Token.Seq))
		}
		if m.Kind == ballot.KindPromise {
			return
		}
	}
	t.Error("there is no next attempt")
}

// When too many refuse, there is nothing to wait for; the next attempt waits for the first lease that ends, and for its
// turn.
func TestAProposerTriesAgainWhenALeaseEnds(t *testing.T) {
	const turn = 300 * time.Millisecond
	c := newCircle(t, 3)
	c.receive(c.ask(ballot.KindPromise, 1, 2, epoch(5, 1), 1))
	c.receive(c.ask(ballot.KindPromise, 2, 1, epoch(5, 2), 1))
	ends := c.now.Add(lease)
	c.m[0].Propose(c.now, turn)
	c.advance(turn)
	c.deliver()
	c.wantNotes(ballot.NoteProposed, ballot.NoteWithdrew)
	if at, _ := c.m[0].NextWake(); at < ends.Add(turn) || at > ends.Add(turn+2*patience) {
		t.Errorf("it tries again %v after the lease, want %v and a pause", at.Sub(ends), turn)
	}
	c.advance(lease + 2*patience)
	if end := c.deliver(); end.Ending != ballot.Won {
		t.Errorf("the next attempt: %+v", end)
	}
}

// "Holder and proposer are supporters of themselves by the same rules." (rule 3)
func TestAProposerWaitsForTheLeaseThatItHasGiven(t *testing.T) {
	c := newCircle(t, 3)
	c.receive(c.ask(ballot.KindPromise, 1, 0, epoch(5, 1), 1))
	ends := c.now.Add(lease)
	c.m[0].Propose(c.now, 0)
	if at, ok := c.m[0].NextWake(); !ok || at != ends {
		t.Errorf("it proposes %v before its lease ends", ends.Sub(at))
	}
	c.did(c.m[0].Desist(c.now, nil))
	if _, ok := c.m[0].NextWake(); ok || c.m[0].Proposing() {
		t.Error("it proposes although nobody wants a token")
	}
}

// A member that wants a token takes a released gate at once.
func TestAReleaseEndsTheWaitOfAProposer(t *testing.T) {
	const turn = 30 * time.Millisecond
	c := newCircle(t, 3)
	c.receive(c.ask(ballot.KindPromise, 1, 0, epoch(5, 1), 1))
	c.m[0].Propose(c.now, turn)
	c.now = c.now.Add(time.Second)
	c.receive(c.ask(ballot.KindRelease, 1, 0, epoch(5, 1)+4, 0))
	if at, ok := c.m[0].NextWake(); !ok || at != c.now.Add(turn) {
		t.Errorf("it proposes after %v, want %v", at.Sub(c.now), turn)
	}
}

// Two proposers that block each other withdraw at about the same time. The lease that blocked one may have been
// released before it withdraws itself: then it tries again after a pause, and not when that lease would have ended.
func TestALeaseThatIsReleasedDuringAnAttemptBlocksNoOther(t *testing.T) {
	for released, longest := range map[bool]time.Duration{false: lease + 4*patience, true: 4 * patience} {
		c := newCircle(t, 3)
		c.receive(c.ask(ballot.KindPromise, 2, 1, epoch(5, 2), 1))
		c.m[0].Propose(c.now, 0)
		c.wake(0)
		c.deliver(2)
		if released {
			c.receive(c.ask(ballot.KindRelease, 2, 0, epoch(5, 2), 0))
		}
		for !slices.Contains(c.notes, ballot.NoteWithdrew) {
			c.now, _ = c.m[0].NextWake()
			c.wake(0)
		}
		at, _ := c.m[0].NextWake()
		if after := at.Sub(c.now); after > longest || !released && after < lease/2 {
			t.Errorf("released %v: it tries again after %v", released, after)
		}
	}
}

// An attempt that a lease blocks ends two patiences after all have answered that had answered the last one: another
// member may wait for its end. Until then, those who have not answered yet may still answer.
func TestAnAttemptThatIsBlockedEndsSoonAfterThoseThatAnsweredTheLastOne(t *testing.T) {
	const later = patience / 2
	for _, tc := range []struct {
		answer []int
		ends   time.Duration
	}{{[]int{1}, 4 * patience}, {[]int{1, 2}, later + 2*patience}, {[]int{1, 2, 3}, later}} {
		c := newCircle(t, 5)
		c.m[0].Propose(c.now, 0)
		attempt := func(answer ...int) (lasted time.Duration) {
			c.now, _ = c.m[0].NextWake()
			began := c.now
			c.wake(0)
			asked := c.air[0]
			c.now, c.air = c.now.Add(later), nil
			for _, rank := range answer {
				c.receive(c.ask(ballot.KindRefused, rank, 0, asked.Token.Seq, asked.Exchange))
			}
			for ; !slices.Contains(c.notes, ballot.NoteWithdrew); c.wake(0) {
				c.now, _ = c.m[0].NextWake()
			}
			c.notes, c.air = nil, nil
			return c.now.Sub(began)
		}
		attempt(1, 2)
		if lasted := attempt(tc.answer...); lasted != tc.ends {
			t.Errorf("%v have answered: the attempt ends after %v, want %v", tc.answer, lasted, tc.ends)
		}
	}
}

// A token that arrives ends the proposal.
func TestATokenThatArrivesEndsAProposal(t *testing.T) {
	c := newCircle(t, 3)
	c.m[0].Propose(c.now, 0)
	c.wake(0)
	c.air = nil
	token := ballot.EpochOf(epoch(90, 1)).Token(c.roster.ID(1))
	c.step(0, func(m *ballot.Machine, _ *ballot.Outcome, out []policy.Effect) []policy.Effect {
		return m.Hold(c.now, &token, 0, 0, out)
	})
	if len(c.air) != 2 || c.air[0].Kind != ballot.KindRelease || c.m[0].Proposing() {
		t.Errorf("sent %+v", c.air)
	}
	if got := c.m[0].Token(); got == nil || got.Seq != token.Seq+1 {
		t.Errorf("it holds %+v", got)
	}
}

// "the counter is at least Unix seconds, so that a member that lost its state does not repeat one" (rule 1)
func TestAnEpochIsAboveAllSeenAndNotBehindTheWallClock(t *testing.T) {
	c := newCircle(t, 3)
	now := uint64(c.instant().Wall / int64(time.Second))
	first := ballot.EpochOf(c.elect(0).Seq)
	if first != ballot.EpochOf(wire.Seq(now<<31)) {
		t.Errorf("the first epoch is %v", first)
	}
	c.did(c.m[0].Release(c.now, nil))
	c.deliver()
	if second := ballot.EpochOf(c.elect(1).Seq); second <= first || second.Rank() != 1 {
		t.Errorf("after %v comes %v", first, second)
	}
}

// A member whose disk has not taken its last promise yet proposes nothing more: with each promise it would refuse the
// tokens of older epochs, and win none.
func TestAMemberWhoseDiskHangsProposesOnce(t *testing.T) {
	c := newCircle(t, 3)
	c.m[0].Propose(c.now, 0)
	for range 3 {
		c.stepUnsaved(0, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
			return m.Wake(c.instant(), end, out)
		})
		c.m[0].NeedsSave() // It begins, and does not end.
		c.now = c.now.Add(10 * lease)
	}
	c.wantNotes(ballot.NoteProposed, ballot.NoteWithdrew)
}

// A member that cannot support so long a lease proposes nothing as long as a holder renews it, for a lease of its own:
// it would only refuse the tokens of older epochs.
func TestAMemberThatCannotSupportALeaseProposesNothingMeanwhile(t *testing.T) {
	c := newCircle(t, 3)
	c.m[0].Propose(c.now, 0)
	renewal := c.ask(ballot.KindRenew, 1, 0, epoch(5, 1), 7)
	ballot.SetLoad(&renewal.Load, c.roster.Hash(), lease+1, 0)
	c.receive(renewal)
	c.wantNotes(ballot.NoteLeaseTooLong)
	if at, ok := c.m[0].NextWake(); !ok || at.Sub(c.now) != lease {
		t.Errorf("it proposes in %v", at.Sub(c.now))
	}
	promise := c.ask(ballot.KindPromise, 2, 0, epoch(6, 2), 8)
	ballot.SetLoad(&promise.Load, c.roster.Hash(), lease+1, 0)
	c.now = c.now.Add(lease / 2)
	c.receive(promise)
	if at, _ := c.m[0].NextWake(); at.Sub(c.now) != lease/2 {
		t.Errorf("somebody proposes, and it proposes in %v", at.Sub(c.now))
	}
	ballot.SetLoad(&renewal.Load, c.roster.Hash(), lease+1, 1)
	if c.receive(renewal); !ballot.IsProbe(&renewal.Load) {
		t.Fatal("the renewal is no probe")
	}
	if at, _ := c.m[0].NextWake(); at.Sub(c.now) != lease/2 {
		t.Errorf("a holder without a majority probes, and it proposes in %v", at.Sub(c.now))
	}
}
