package ballot_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// "Until the greatest lease has passed on its clock it neither promises nor supports an epoch other than promised."
// (rule 9)
func TestARestartedMemberIsQuarantined(t *testing.T) {
	for name, tc := range map[string]struct {
		promised int
		greatest time.Duration
	}{
		"with its state": {5, 3 * time.Second},
		// "Without a state file the same, with the greatest lease that the configuration allows."
		"without its state": {0, lease},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCircle(t, 3)
			var memo policy.Memo
			if tc.promised != 0 {
				c.m[2] = c.restart(2, &memo)
				c.now = c.now.Add(lease)
				msg := c.ask(ballot.KindPromise, 0, 2, epoch(tc.promised, 0), 1)
				ballot.SetLoad(&msg.Load, c.roster.Hash(), tc.greatest, 0)
				c.receive(msg)
				c.m[2].Memo(&memo)
				tc.greatest = lease // "the greatest lease ever promised": without a state it was this.
			}
			c.m[2] = c.restart(2, &memo)
			if tc.promised != 0 {
				c.wantAnswer(c.receive(c.ask(ballot.KindRenew, 1, 2, epoch(tc.promised, 0)+1, 2)), ballot.KindRenewed)
				c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(tc.promised, 0), 1)), ballot.KindRefused)
				c.receive(c.ask(ballot.KindRelease, 1, 2, epoch(tc.promised, 0), 0))
			}
			c.now = c.now.Add(tc.greatest - 1)
			span, _ := c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 1, 2, epoch(9, 1), 3)), ballot.KindRefused)
			if span != 1 {
				t.Errorf("busy for %v", span)
			}
			c.m[2].Propose(c.now, 0)
			if at, _ := c.m[2].NextWake(); at != c.now+1 {
				t.Errorf("it proposes in %v", at.Sub(c.now))
			}
			c.now++
			c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 1, 2, epoch(9, 1), 3)), ballot.KindPromised)
		})
	}
}

// restart returns a member that begins a new life now.
func (c *circle) restart(i int, memo *policy.Memo) *ballot.Machine {
	m := ballot.New(c.config(i))
	m.Start(c.now, &policy.State{Memo: *memo})
	return &m
}

// "promised never falls", and the memo has the documented layout.
func TestAMemoKeepsThePromiseAndTheLeaseAndTheRoster(t *testing.T) {
	c := newCircle(t, 3)
	c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1))
	memo := policy.Memo{ballot.MemoSize: 99}
	c.m[2].Memo(&memo)
	if memo[ballot.MemoSize] != 99 {
		t.Error("it writes over what its owner has")
	}
	if err := c.roster.Follows(&memo); err != nil {
		t.Error(err)
	}
	m := c.restart(2, &memo)
	if e, end := m.Lease(); e != ballot.EpochOf(epoch(5, 0)) || end > c.now {
		t.Errorf("it has promised %v until %v", e, end)
	}
	if m.Token() != nil {
		t.Error("a restarted member holds a token")
	}
}

// "The greatest lease promised bounds the quarantine": a member that has promised a longer lease than any before, with
// a promise or a renewal, waits for that one when it starts again, and not for the one that an earlier life had saved.
func TestTheGreatestLeasePromisedBoundsTheQuarantine(t *testing.T) {
	const promise, renewal, unkeeps = -1, 0, 3
	for name, asks := range map[string]int{"a promise": promise, "a renewal": renewal, "a kept one's end": unkeeps} {
		c := newCircle(t, 3)
		var memo policy.Memo
		binary.BigEndian.PutUint32(memo[8:], 1000) // an earlier life has promised a second at most
		c.m[2] = c.restart(2, &memo)
		c.now = c.now.Add(time.Second)
		c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1)), ballot.KindPromised)
		if asks != promise {
			c.m[2].Memo(&memo)
			binary.BigEndian.PutUint32(memo[8:], 1000)
			c.m[2] = c.restart(2, &memo)
			renew := c.ask(ballot.KindRenew, 0, 2, epoch(5, 0)+1, 2)
			ballot.SetLoad(&renew.Load, c.roster.Hash(), lease, wire.Seq(asks))
			c.wantAnswer(c.receive(renew), ballot.KindRenewed)
		}
		c.m[2].Memo(&memo)
		c.m[2] = c.restart(2, &memo)
		c.now = c.now.Add(lease - 1)
		if span, _ := c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 1, 2, epoch(9, 1), 3)),
			ballot.KindRefused); span != 1 {
			t.Errorf("%s of %v: after a restart it is busy for %v more", name, lease, span)
		}
	}
}

// "A member restarted knows what it promised": it refuses every epoch below, and the same epoch for another question;
// it renews that epoch.
func TestAMemberRestartedKnowsWhatItPromised(t *testing.T) {
	c := newCircle(t, 3)
	c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1)), ballot.KindPromised)
	var memo policy.Memo
	c.m[2].Memo(&memo)
	c.m[2] = c.restart(2, &memo)
	c.now = c.now.Add(2 * lease)
	for _, question := range []wire.Message{
		c.ask(ballot.KindPromise, 1, 2, epoch(4, 1), 7), c.ask(ballot.KindRenew, 1, 2, epoch(4, 1)+3, 8),
		c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 9),
	} {
		if _, promised := c.wantAnswer(c.receive(question), ballot.KindRefused); promised != epoch(5, 0) {
			t.Errorf("it says that it has promised %d", promised)
		}
	}
	c.wantAnswer(c.receive(c.ask(ballot.KindRenew, 0, 2, epoch(5, 0)+1, 10)), ballot.KindRenewed)
}

// A saved promise and a kept grant are believed as far as the clock can explain their numbers; one that it cannot
// explain is forgotten, and so is how long to wait for a kept grant.
func TestWhatIsSavedIsBelievedAsFarAsTheClockExplainsIt(t *testing.T) {
	const wall = int64(1_800_000_000) * int64(time.Second)
	const now, later = wire.Seq(1_800_000_000) << 31, wire.Seq(1_800_000_000+2*24*3600) << 31
	for name, tc := range map[string]struct {
		promised, kept       wire.Seq
		doubted              bool
		forgetsKept, forgets bool
	}{
		"nothing":                   {},
		"a promise":                 {promised: now},
		"a kept grant":              {promised: now, kept: now},
		"a promise that cannot be":  {promised: later, doubted: true, forgets: true},
		"both cannot be":            {promised: later, kept: later, doubted: true, forgets: true, forgetsKept: true},
		"a grant that cannot be":    {promised: now, kept: later, doubted: true, forgetsKept: true},
		"a grant without a promise": {promised: later, kept: now, doubted: true, forgets: true, forgetsKept: true},
	} {
		t.Run(name, func(t *testing.T) {
			var saved policy.State
			binary.BigEndian.PutUint64(saved.Memo[:], uint64(ballot.EpochOf(tc.promised)))
			binary.BigEndian.PutUint32(saved.Memo[8:], 8000)
			if tc.kept > 0 {
				saved.Kept = policy.Kept{Holder: wire.MemberID{1}, Token: wire.Ref{Seq: tc.kept}, For: time.Hour}
			}
			before := saved
			why := ballot.Doubt(wall, true, &saved)
			forgets := binary.BigEndian.Uint64(saved.Memo[:]) == 0 && tc.promised > 0
			forgetsKept := !saved.Kept.Is() && before.Kept.Is()
			waits := binary.BigEndian.Uint32(saved.Memo[8:]) == 0
			if (why != "") != tc.doubted || forgets != tc.forgets || forgetsKept != tc.forgetsKept ||
				waits != tc.forgetsKept {
				t.Errorf("%q: forgets the promise %v, the grant %v, the greatest lease %v", why, forgets, forgetsKept,
					waits)
			}
		})
	}
}
