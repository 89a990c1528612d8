package ballot_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// "It answers Promise(e) only if e > promised and its lease has ended; … a promise is a lease. Otherwise it says "busy
// until" or "promised e′" and changes nothing." (rule 3)
func TestASupporterPromisesOnlyWhenItsLeaseHasEnded(t *testing.T) {
	c := newCircle(t, 3)
	c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1)), ballot.KindPromised)
	c.now = c.now.Add(time.Second)
	span, promised := c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 1, 2, epoch(6, 1), 2)), ballot.KindRefused)
	if span != lease-time.Second || promised != epoch(5, 0) {
		t.Errorf("busy for %v with %v", span, ballot.EpochOf(promised))
	}
	c.now = c.now.Add(span - 1)
	c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 1, 2, epoch(6, 1), 2)), ballot.KindRefused)
	c.now = c.now.Add(1)
	c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 1, 2, epoch(6, 1), 2)), ballot.KindPromised)
	span, promised = c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 3)), ballot.KindRefused)
	if span != lease || promised != epoch(6, 1) {
		t.Errorf("busy for %v with %v", span, ballot.EpochOf(promised))
	}
}

// "It answers Renew(e) if e = promised (end := max(end, now + L), L from the message), refuses if e < promised, and
// treats Renew(e > promised) as Promise(e)." (rule 3)
func TestASupporterRenewsWhatItHasPromised(t *testing.T) {
	c := newCircle(t, 3)
	c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1)), ballot.KindPromised)
	c.now = c.now.Add(time.Second)
	c.wantAnswer(c.receive(c.ask(ballot.KindRenew, 1, 2, epoch(5, 0)+3, 2)), ballot.KindRenewed)
	if e, end := c.m[2].Lease(); e != ballot.EpochOf(epoch(5, 0)) || end != c.now.Add(lease) {
		t.Errorf("lease of %v for %v", e, end.Sub(c.now))
	}
	c.wantAnswer(c.receive(c.ask(ballot.KindRenew, 1, 2, epoch(4, 1)+9, 3)), ballot.KindRefused)
	span, _ := c.wantAnswer(c.receive(c.ask(ballot.KindRenew, 1, 2, epoch(6, 1)+1, 4)), ballot.KindRefused)
	if span != lease {
		t.Errorf("busy for %v", span)
	}
	c.now = c.now.Add(lease)
	c.wantAnswer(c.receive(c.ask(ballot.KindRenew, 1, 2, epoch(6, 1)+1, 5)), ballot.KindRenewed)
	c.wantAnswer(c.receive(c.ask(ballot.KindRenew, 0, 2, epoch(5, 0)+3, 6)), ballot.KindRefused)
}

// "saved before the message that depends on them leaves" (rule 2)
func TestAnAnswerWaitsForItsSave(t *testing.T) {
	c := newCircle(t, 3)
	receive := func(msg wire.Message) {
		c.stepUnsaved(2, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
			return m.Receive(c.instant(), &msg, end, out)
		})
	}
	receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1))
	if !c.m[2].NeedsSave() || c.m[2].NeedsSave() || len(c.air) != 0 {
		t.Fatalf("sent %+v before it is saved", c.air)
	}
	receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1))
	if c.m[2].NeedsSave() || len(c.air) != 0 {
		t.Fatal("a repeated question asks for another save, or is answered before the first")
	}
	c.did(c.m[2].OnSaved(c.now, true, &c.end, nil))
	if c.wantNotes(ballot.NoteNotSaved); len(c.air) != 0 {
		t.Fatalf("sent %+v although nothing is saved", c.air)
	}
	receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1))
	if !c.m[2].NeedsSave() {
		t.Fatal("a failed save is not tried again")
	}
	c.did(c.m[2].OnSaved(c.now, false, &c.end, nil))
	c.wantAnswer(c.air, ballot.KindPromised)
}

// A question that comes again is answered again, because its answer may be lost. Another proposal with the same epoch
// is not answered: its proposer has lost its state, and its clock is wrong.
func TestAnEpochIsPromisedToOneQuestion(t *testing.T) {
	c := newCircle(t, 3)
	for range 2 {
		c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1)), ballot.KindPromised)
	}
	c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 2)), ballot.KindRefused)
}

// "supporters of e end its lease" (rule 11), of no other epoch, and a message that the release has overtaken begins no
// lease any more.
func TestAReleaseEndsTheLeaseOfItsEpoch(t *testing.T) {
	c := newCircle(t, 3)
	c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1))
	c.receive(c.ask(ballot.KindRelease, 0, 2, epoch(4, 0), 0))
	c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 1, 2, epoch(6, 1), 2)), ballot.KindRefused)
	c.receive(c.ask(ballot.KindRelease, 1, 2, epoch(5, 0)+7, 0))
	c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1)), ballot.KindRefused)
	c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 1, 2, epoch(6, 1), 2)), ballot.KindPromised)
	c.receive(c.ask(ballot.KindRelease, 0, 1, epoch(5, 0), 0))
	c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 1, epoch(5, 0), 1)), ballot.KindRefused)
}

// A member that has lost what it saved may propose an epoch of its earlier life, and give it up. That ends no lease of
// the token of that epoch, which has moved on: otherwise the others would make another one while it runs.
func TestAReleaseOfAnEarlierHopEndsNoLease(t *testing.T) {
	for name, c := range map[string]*circle{"plain": newCircle(t, 3), "kept": newKeepingCircle(t, 3, keep)} {
		c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1))
		c.receive(c.ask(ballot.KindRenew, 1, 2, epoch(5, 0)+4, 2))
		for hop := range wire.Seq(4) {
			c.receive(c.ask(ballot.KindRelease, 0, 2, epoch(5, 0)+hop, 0))
		}
		if _, end := c.m[2].Lease(); end != c.now.Add(lease) {
			t.Errorf("%s: the lease ends in %v", name, end.Sub(c.now))
		}
		c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(6, 0), 3)), ballot.KindRefused)
		c.receive(c.ask(ballot.KindRelease, 1, 2, epoch(5, 0)+4, 0))
		c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(6, 0), 4)), ballot.KindPromised)
	}
}

// "members that differ are warned about and do not count" (the roster), and no forged number ends the numbers of a
// gate.
func TestImpossibleMessagesAreRefused(t *testing.T) {
	outsider := wire.MemberID{1: 1, 15: 1}
	for name, tc := range map[string]struct {
		change func(*wire.Message)
		note   policy.Note
	}{
		"an outsider":    {func(m *wire.Message) { m.From = outsider }, ballot.NoteOutsider},
		"itself":         {func(m *wire.Message) { m.From = m.To }, ballot.NoteOutsider},
		"another roster": {func(m *wire.Message) { m.Load[7]++ }, ballot.NoteOtherRoster},
		"too long a lease": {
			func(m *wire.Message) { ballot.SetLoad(&m.Load, 0, lease+1, 0) }, ballot.NoteLeaseTooLong,
		},
		"another proposer's": {func(m *wire.Message) { m.Token.Seq = epoch(5, 1) }, ballot.NoteEpochRefused},
		"two days in the future": {
			func(m *wire.Message) { m.Token.Seq = epoch(2*24*60*60, 0) }, ballot.NoteEpochRefused,
		},
		"an answer to no question": {func(m *wire.Message) { m.Kind = ballot.KindPromised }, ballot.NoteStrayAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCircle(t, 3)
			msg := c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 1)
			roster := [8]byte(msg.Load[:8])
			if tc.change(&msg); tc.note == ballot.NoteLeaseTooLong {
				copy(msg.Load[:], roster[:])
			}
			sent := c.receive(msg)
			if tc.note == ballot.NoteLeaseTooLong {
				c.wantAnswer(sent, ballot.KindRefused)
				if allowed := ballot.AllowedOf(&sent[0].Load); allowed != lease {
					t.Errorf("it allows %v", allowed)
				}
			} else if len(sent) != 0 {
				t.Errorf("sent %+v", sent)
			}
			c.wantNotes(tc.note)
			if e, _ := c.m[2].Lease(); e != 0 {
				t.Errorf("promised %v", e)
			}
		})
	}
}
