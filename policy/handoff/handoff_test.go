package handoff_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// The rules beyond the paper.

func TestTheSenderGivesTheTokenUpBeforeTheCommitLeaves(t *testing.T) {
	p := newPair(t)
	p.offer()
	p.deliver(handoff.KindToken)
	ack := p.take(handoff.KindAck)
	var outcome handoff.Outcome
	out := p.ann.h.Receive(p.now, &ack, &outcome, nil)
	if outcome.Ending != handoff.Passed || outcome.Peer != bobsID || outcome.Token != theToken {
		t.Errorf("the Ack led to %+v", outcome)
	}
	if len(out) != 3 || out[0].Note != handoff.NotePassed || out[2].Kind != policy.Send ||
		out[2].Msg.Kind != handoff.KindCommit {
		t.Fatalf("the Ack led to %+v, want that it passed and then the Commit", out)
	}
	if e := out[1]; e.Kind != policy.Gave || e.Cause != policy.CausePassed || e.Peer != bobsID || e.Token != theToken {
		t.Errorf("before the Commit comes %+v, want that the token is given up for Bob", e)
	}
}

func TestTheSenderNeverTakesTheTokenBack(t *testing.T) {
	p := newPair(t)
	p.offer()
	p.deliver(handoff.KindToken)
	p.deliver(handoff.KindAck)
	p.drop(handoff.KindCommit)
	p.advance(10 * timeout)
	p.wantHolder("nobody")
	p.wantNotes(p.ann, handoff.NoteOffered, handoff.NotePassed)
}

func TestARepeatedTokenGetsTheSameAck(t *testing.T) {
	p := newPair(t)
	p.offer()
	p.deliver(handoff.KindToken)
	first := p.take(handoff.KindAck)
	p.advanceToNextWake()
	p.deliver(handoff.KindToken)
	p.wantNotes(p.bob, handoff.NoteTokenAgain)
	for len(p.air) > 0 {
		if again := p.take(handoff.KindAck); again != first {
			t.Errorf("the Ack became %+v, was %+v", again, first)
		}
	}
}

func TestARepeatedAckGetsTheSameCommit(t *testing.T) {
	p := newPair(t)
	p.offer()
	p.deliver(handoff.KindToken)
	ack := p.deliver(handoff.KindAck)
	first := p.take(handoff.KindCommit)
	p.receive(ack)
	if again := p.take(handoff.KindCommit); again != first {
		t.Errorf("the Commit became %+v, was %+v", again, first)
	}
	p.wantNotes(p.ann, handoff.NoteOffered, handoff.NotePassed, handoff.NoteAckAgain)
	p.receive(first)
	p.wantHolder("bob")
	p.receive(first)
	p.wantNotes(p.bob, handoff.NoteStrayCommit)
}

func TestTheCommitIsRepeatedForTwoTimeouts(t *testing.T) {
	for _, tc := range []struct {
		after time.Duration
		want  int
	}{{2*timeout - 1, 1}, {2 * timeout, 0}} {
		p := newPair(t)
		_, ack, _ := p.pass()
		p.advance(tc.after)
		if got := p.receive(ack); got != tc.want {
			t.Errorf("after %v an Ack is answered %d times, want %d", tc.after, got, tc.want)
		}
	}
}

// The longest wait of a receiver: the last repeated Token, sent just before the Ack came, took half a timeout.
func TestTheCommitIsRepeatedForAsLongAsTheReceiverWaits(t *testing.T) {
	p := newPair(t)
	p.offer()
	token := p.deliver(handoff.KindToken)
	ack := p.take(handoff.KindAck)
	p.stop(timeout / 4)
	p.receive(ack)
	p.drop(handoff.KindCommit)
	p.stop(timeout / 2)
	p.receive(token) // the Token that ann had repeated before the Ack came
	p.stop(timeout - 1)
	if out := p.bob.h.Wake(p.now, new(handoff.Outcome), nil); len(out) != 1 || out[0].Msg.Kind != handoff.KindAck {
		t.Fatalf("bob does not repeat the Ack any more: %+v", out)
	}
	p.air = nil
	if p.receive(ack) != 1 {
		t.Fatal("ann does not repeat the Commit any more")
	}
	p.deliver(handoff.KindCommit)
	p.wantHolder("bob")
}

func TestACommitWithAnotherNonceIsRefused(t *testing.T) {
	for name, forge := range map[string]func(m *wire.Message){
		"nonce":            func(m *wire.Message) { m.Nonce++ },
		"handoff":          func(m *wire.Message) { m.Exchange++ },
		"sender":           func(m *wire.Message) { m.From = thiefID },
		"token, its birth": func(m *wire.Message) { m.Token.ID.Birth++ },
		"token, its id":    func(m *wire.Message) { m.Token.ID.Random++ },
		"token, its seq":   func(m *wire.Message) { m.Token.Seq++ },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			p.offer()
			p.deliver(handoff.KindToken)
			p.deliver(handoff.KindAck)
			genuine := p.take(handoff.KindCommit)
			forged := genuine
			forge(&forged)
			if p.bob.h.Expects(&forged) {
				t.Error("it is expected")
			}
			p.receive(forged)
			p.wantHolder("nobody")
			p.wantNotes(p.bob, handoff.NoteStrayCommit)
			p.receive(genuine)
			p.wantHolder("bob")
		})
	}
}

func TestAnAckThatDiffersFromTheOfferIsIgnored(t *testing.T) {
	for name, forge := range map[string]func(m *wire.Message){
		"sender":           func(m *wire.Message) { m.From = thiefID },
		"handoff":          func(m *wire.Message) { m.Exchange++ },
		"token, its birth": func(m *wire.Message) { m.Token.ID.Birth++ },
		"token, its id":    func(m *wire.Message) { m.Token.ID.Random++ },
		"token, its seq":   func(m *wire.Message) { m.Token.Seq++ },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			p.offer()
			p.deliver(handoff.KindToken)
			genuine := p.take(handoff.KindAck)
			forged := genuine
			forge(&forged)
			if p.ann.h.Expects(&forged) {
				t.Error("it is expected")
			}
			if replies := p.receive(forged); replies != 0 {
				t.Errorf("it is answered by %d messages", replies)
			}
			p.wantHolder("ann")
			p.wantNotes(p.ann, handoff.NoteOffered, handoff.NoteStrayAck)
			p.receive(genuine)
			p.wantHolder("nobody")
		})
	}
}

// A receiver that crashed and restarted acknowledges a repeated Token with another nonce. The sender has committed to
// the first nonce, so the handoff fails.
func TestTheSenderCommitsToOneAckOnly(t *testing.T) {
	p := newPair(t)
	p.offer()
	offered := p.deliver(handoff.KindToken)
	p.bob = newMember("bob", bobsID, rand.NewPCG(3, 3))
	p.deliver(handoff.KindAck)
	p.receive(offered)
	if replies := p.receive(p.take(handoff.KindAck)); replies != 0 {
		t.Errorf("the second nonce is answered by %d messages", replies)
	}
	p.deliver(handoff.KindCommit)
	p.wantHolder("nobody")
}

func TestAReplayedHandoffIsRefused(t *testing.T) {
	for _, handoffsBetween := range []int{0, 20} {
		t.Run(fmt.Sprintf("after %d others", handoffsBetween), func(t *testing.T) {
			p := newPair(t)
			recordedToken, _, recordedCommit := p.pass()
			for range handoffsBetween {
				p.pass()
			}
			p.receive(recordedToken)
			p.receive(recordedCommit)
			p.wantHolder("ann")
			for len(p.air) > 0 {
				if replies := p.receive(p.take(handoff.KindAck)); replies != 0 {
					t.Errorf("ann answers the Ack of a handoff played back by %d messages", replies)
				}
			}
			p.advance(2 * timeout)
			p.receive(recordedCommit)
			p.wantHolder("ann")
		})
	}
}

func TestALateDuplicateTokenChangesNothing(t *testing.T) {
	p := newPair(t)
	recorded, _, _ := p.pass()
	before := p.bob.h
	if p.bob.h.Expects(&recorded) {
		t.Error("it is expected")
	}
	if replies := p.receive(recorded); replies != 0 {
		t.Errorf("it is answered by %d messages", replies)
	}
	p.wantNotes(p.bob, handoff.NoteTokenAgain)
	if p.bob.h != before {
		t.Error("it changed something")
	}
}

func TestANonceIsUsedOnce(t *testing.T) {
	p := newPair(t)
	seen := map[wire.Nonce]bool{}
	var recorded wire.Message
	for i := range 40 {
		offered, ack, _ := p.pass()
		if i == 0 {
			recorded = offered
		}
		if seen[ack.Nonce] {
			t.Fatalf("nonce %x is used again", ack.Nonce)
		}
		seen[ack.Nonce] = true
	}
	p.receive(recorded)
	if ack := p.take(handoff.KindAck); seen[ack.Nonce] {
		t.Errorf("a Token played back gets the nonce %x again", ack.Nonce)
	}
}

func TestEveryHandoffHasItsOwnIdentity(t *testing.T) {
	p := newPair(t)
	seen := map[wire.Exchange]bool{}
	for range 40 {
		offered, _, _ := p.pass()
		if offered.Exchange == 0 || seen[offered.Exchange] {
			t.Fatalf("handoff %x is used again", offered.Exchange)
		}
		seen[offered.Exchange] = true
	}
}

func TestZeroIsNeitherAnIdentityNorANonce(t *testing.T) {
	p := newPair(t)
	p.ann = newMember("ann", annsID, &zerosFirst{})
	p.ann.holds = true
	p.bob = newMember("bob", bobsID, &zerosFirst{})
	offered, ack, _ := p.pass()
	if offered.Exchange == 0 || ack.Nonce == 0 {
		t.Errorf("handoff %x, nonce %x", offered.Exchange, ack.Nonce)
	}
}

// zerosFirst is a source of three zeros, then ones.
type zerosFirst struct{ drawn int }

func (z *zerosFirst) Uint64() uint64 {
	if z.drawn++; z.drawn > 3 {
		return 1
	}
	return 0
}

func TestFourOffersAtATimeAreAcknowledged(t *testing.T) {
	p := newPair(t)
	for i := range 4 {
		p.receive(offerFrom(i))
	}
	p.wantInTheAir("Ack Ack Ack Ack")
	if replies := p.receive(offerFrom(4)); replies != 0 {
		t.Errorf("a fifth is answered by %d messages", replies)
	}
	p.wantNotes(p.bob, handoff.NoteStrayToken)
	p.advance(timeout)
	p.air = nil
	if replies := p.receive(offerFrom(5)); replies != 1 {
		t.Errorf("when the four are over, the next is answered by %d messages", replies)
	}
}

// Replayed Tokens block others no longer than a live sender takes to commit.
func TestAnOfferWhoseAckWasRepeatedIsReplaced(t *testing.T) {
	p := newPair(t)
	for i := range 4 {
		p.receive(offerFrom(i))
		p.advance(timeout / 100)
	}
	p.advance(timeout / 4) // each has now repeated its Ack
	p.air = nil
	p.offer()
	p.deliver(handoff.KindToken)
	p.wantNotes(p.bob, handoff.NoteNoCommit)
	p.deliver(handoff.KindAck)
	p.deliver(handoff.KindCommit)
	p.wantHolder("bob")
	if first := offerFrom(0); p.bob.h.Expects(&first) {
		t.Error("it was not the oldest that gave way")
	}
}

func TestAReplayedTokenKeepsNoHandoffOpen(t *testing.T) {
	p := newPair(t)
	recorded := offerFrom(0)
	p.receive(recorded)
	const longest = 16 * timeout
	for ; p.now < policy.Time(longest)-1; p.advance(1 * time.Millisecond) {
		p.receive(recorded)
	}
	p.advance(policy.Time(longest).Sub(p.now))
	if p.bob.h.Receiving() {
		t.Error("the handoff lasts for longer than the longest patience")
	}
	p.air = nil
	if replies := p.receive(recorded); replies != 0 {
		t.Errorf("then it is answered by %d messages", replies)
	}
}

func TestAClosedMachineAcknowledgesNoNewOffer(t *testing.T) {
	p := newPair(t)
	p.offer()
	offered := p.deliver(handoff.KindToken)
	p.bob.h.Close()

	late := offerFrom(0)
	if p.bob.h.Expects(&late) {
		t.Error("a new offer is expected")
	}
	if replies := p.receive(late); replies != 0 {
		t.Errorf("a new offer is answered by %d messages", replies)
	}
	p.wantNotes(p.bob, handoff.NoteStrayToken)

	if replies := p.receive(offered); replies != 1 || !p.bob.h.Expects(&offered) {
		t.Errorf("the offer in progress, repeated, is answered by %d messages", replies)
	}
	p.deliver(handoff.KindAck)
	p.deliver(handoff.KindCommit)
	p.wantHolder("bob")
}

func TestAClosedMachineStillPassesItsTokenOn(t *testing.T) {
	p := newPair(t)
	p.ann.h.Close()
	p.pass()
}

func TestAWithdrawnOfferIsNeverCommitted(t *testing.T) {
	p := newPair(t)
	p.offer()
	p.deliver(handoff.KindToken)
	p.ann.h.Withdraw()
	p.deliver(handoff.KindAck)
	p.wantInTheAir("")
	p.wantHolder("ann")
	p.advance(unmeasured)
	p.wantNotes(p.ann, handoff.NoteOffered, handoff.NoteStrayAck)
	p.wantBothOut()
}

func TestAbandonLeavesEveryHandoff(t *testing.T) {
	p := newPair(t)
	p.offer()
	p.deliver(handoff.KindToken)
	p.receive(offerFrom(1))
	p.took(p.bob, handoff.Outcome{}, p.bob.h.Abandon(p.out[:0]))
	p.wantNotes(p.bob, handoff.NoteNoCommit, handoff.NoteNoCommit)
	p.took(p.ann, handoff.Outcome{}, p.ann.h.Abandon(p.out[:0]))
	p.wantBothOut()
	p.deliver(handoff.KindAck)
	p.wantNotes(p.ann, handoff.NoteOffered, handoff.NoteStrayAck)
	p.wantHolder("ann")
}

func TestQuietIsWhenNoPartnerCanNeedThisMember(t *testing.T) {
	p := newPair(t)
	wantQuiet := func(m *member, wantAt policy.Time, wantOK bool) {
		t.Helper()
		if at, ok := m.h.QuietAt(); ok != wantOK || at != wantAt {
			t.Fatalf("%s is quiet at %v, %v; want %v, %v", m.name, at, ok, wantAt, wantOK)
		}
	}
	p.advance(timeout)
	wantQuiet(p.ann, 0, true)
	p.offer()
	wantQuiet(p.ann, 0, false)
	p.deliver(handoff.KindToken)
	wantQuiet(p.bob, 0, false)
	p.deliver(handoff.KindAck)
	wantQuiet(p.ann, p.now.Add(2*timeout), true)
	p.deliver(handoff.KindCommit)
	wantQuiet(p.bob, 0, true)
}

func TestTheFirstRepetitionComesWithinTheTimeout(t *testing.T) {
	for _, slow := range []time.Duration{0, timeout / 2, timeout - 1} {
		p := newPair(t)
		for range 10 {
			p.offer()
			p.deliver(handoff.KindToken)
			p.stop(slow)
			p.deliver(handoff.KindAck)
			p.deliver(handoff.KindCommit)
			p.ann.holds, p.bob.holds = true, false
		}
		p.offer()
		p.drop(handoff.KindToken)
		p.advance(timeout / 2)
		p.deliver(handoff.KindToken)
		p.air = nil
		p.advance(timeout / 2)
		p.take(handoff.KindAck)
	}
}

// The sample of a repeated message is the time since its last sending, so loss does not make the waits longer.
func TestALossDoesNotLengthenTheNextWait(t *testing.T) {
	const shortest = 5 * time.Millisecond
	t.Run("of the sender", func(t *testing.T) {
		p := newPair(t)
		p.offer()
		p.drop(handoff.KindToken)
		p.advanceToNextWake()
		p.deliver(handoff.KindToken)
		p.deliver(handoff.KindAck)
		p.deliver(handoff.KindCommit)
		p.bob.holds, p.ann.holds = false, true

		p.offer()
		p.advance(shortest)
		p.wantInTheAir("Token Token")
	})
	t.Run("of the receiver", func(t *testing.T) {
		p := newPair(t)
		p.offer()
		token := p.deliver(handoff.KindToken)
		p.stop(timeout / 2)
		p.receive(token)
		p.deliver(handoff.KindAck)
		p.deliver(handoff.KindCommit)

		p.air = nil
		p.receive(offerFrom(1))
		p.advance(shortest)
		p.wantInTheAir("Ack Ack")
	})
}

// A sender may have passed several tokens before the first receiver repeats its Ack.
func TestTheLastFourCommitsCanBeRepeated(t *testing.T) {
	p := newPair(t)
	var acks []wire.Message
	for range 5 {
		p.ann.holds, p.bob.holds = true, false
		p.offer()
		p.deliver(handoff.KindToken)
		acks = append(acks, p.deliver(handoff.KindAck))
		p.deliver(handoff.KindCommit)
		p.air = nil
	}
	for i, ack := range acks {
		if got, want := p.receive(ack), min(i, 1); got != want {
			t.Errorf("handoff %d of five: the Ack is answered %d times, want %d", i+1, got, want)
		}
	}
}

// An Ack of another handoff is no repetition, and gets no answer.
func TestAnAckOfAnotherHandoffGetsNoCommitAgain(t *testing.T) {
	p := newPair(t)
	_, ack, _ := p.pass()
	other := ack
	other.Exchange++
	if got := p.receive(other); got != 0 {
		t.Errorf("it is answered %d times", got)
	}
	if got := p.receive(ack); got != 1 {
		t.Errorf("the Ack itself is answered %d times", got)
	}
}

func TestAnOfferIsToOneMember(t *testing.T) {
	p := newPair(t)
	p.offer()
	id := p.take(handoff.KindToken).Exchange
	for _, tc := range []struct {
		id   wire.Exchange
		to   wire.MemberID
		want bool
	}{{id, bobsID, true}, {id, thiefID, false}, {id + 1, bobsID, false}} {
		if got := p.ann.h.Offers(tc.id, tc.to); got != tc.want {
			t.Errorf("handoff %d to %v is on offer: %v", tc.id, tc.to, got)
		}
	}
	p.ann.h.Withdraw()
	if p.ann.h.Offers(id, bobsID) {
		t.Error("a withdrawn offer is on offer")
	}
}

// One failed offer is a failure, four double the patience, and a member that stops offering for a while begins again.
func TestAWithdrawalForgetsTheFailures(t *testing.T) {
	p := newPair(t)
	fail := func(times int) {
		for range times {
			p.offer()
			p.air = nil
			p.advance(16 * timeout)
			p.air = nil
		}
	}
	fail(3)
	if got := p.ann.h.Failures(); got != 3 {
		t.Errorf("three failures count as %d", got)
	}
	p.ann.h.Withdraw()
	if got := p.ann.h.Failures(); got != 0 {
		t.Errorf("after a withdrawal %d failures are left", got)
	}
	fail(3)
	if got := p.ann.h.Patience(); got != timeout {
		t.Errorf("after three failures its patience is %v", got)
	}
	fail(1)
	if got := p.ann.h.Patience(); got != 2*timeout {
		t.Errorf("after four failures its patience is %v", got)
	}
}
