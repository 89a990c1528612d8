package handoff

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/wire"
)

// learn lets a partner answer until a patience fits its round trip: an offer that fails is also answered, late.
func (p *patience) learn(hint uint32, roundTrip time.Duration) (tries int) {
	for tries = 1; p.with(hint) <= roundTrip; tries++ {
		p.failed()
		p.answered(hint, roundTrip)
	}
	p.answered(hint, roundTrip)
	return tries
}

// Otherwise a distant member of a fleet of near ones never gets the token.
func TestTheAnswersOfNearPartnersDoNotLowerThePatienceWithADistantOne(t *testing.T) {
	p := patience{timeout: time.Second}
	const roundTrip = 7 * time.Second
	if tries := p.learn(far, roundTrip); tries > 5 {
		t.Errorf("the first handoff takes %d tries", tries)
	}
	for range 1000 {
		p.answered(near, time.Millisecond)
	}
	if got := p.with(far); got < 2*roundTrip {
		t.Errorf("the patience with it is %v", got)
	}
	if got := p.with(near); got != time.Second {
		t.Errorf("the patience with the near one is %v", got)
	}
	if got := p.longest(); got != roundTrip {
		t.Errorf("the longest round trip is %v", got)
	}
}

// This also holds if there are more distant partners than places, in whatever order they answer.
func TestAmongManyDistantPartnersThereIsTimeForEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := patience{timeout: time.Second}
		distant := rapid.IntRange(1, 4*MaxDistances).Draw(t, "distant")
		roundTrip := func(i int) time.Duration { return time.Second + time.Duration(i)*100*time.Millisecond }
		for range 3 {
			for _, i := range rapid.Permutation(upTo(distant)).Draw(t, "order") {
				p.learn(uint32(100+i), roundTrip(i))
				for range 50 {
					p.answered(near, time.Millisecond)
				}
			}
		}
		for i := range distant {
			if got, want := p.with(uint32(100+i)), roundTrip(i); got <= want {
				t.Fatalf("the patience with one of %d distant partners is %v, and it needs %v", distant, got, want)
			}
		}
	})
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// The patience with all partners does not grow because one partner was paused once.
func TestAPartnerThatWasPausedIsNotFarAway(t *testing.T) {
	p := patience{timeout: time.Second}
	p.answered(near, time.Hour)
	for range 40 {
		p.answered(3, time.Millisecond)
	}
	if got := p.longest(); got > 100*time.Millisecond {
		t.Errorf("the longest round trip is %v", got)
	}
	p.learn(far, 2*time.Second)
	for range 40 {
		p.answered(far, time.Millisecond)
	}
	if got := p.longest(); got > 100*time.Millisecond {
		t.Errorf("the longest round trip is %v, but it is no longer far away", got)
	}
}

// A partner that has left the fleet makes no member wait longer.
func TestADistantPartnerThatIsGoneIsForgotten(t *testing.T) {
	h := New(Config{Timeout: time.Second})
	h.patience.learn(far, 2*time.Second)
	h.patience.learn(near, 3*time.Second)
	h.Keep(func(hint uint32) bool { return hint == far })
	h.patience.roundTrip = 0
	if got := h.RoundTrip(); got != 2*time.Second {
		t.Errorf("the longest round trip is %v", got)
	}
}

// A partner that was paused answers at once all the offers that it finds when it continues.
func TestManyLateAnswersOfOnePartnerCountOnce(t *testing.T) {
	h := New(Config{Timeout: time.Second})
	partner := wire.MemberID{1}
	acks := make([]wire.Message, maxFailed)
	for i := range acks {
		h.failed.add(&outgoing{id: wire.Exchange(i + 1), to: partner})
		acks[i] = wire.Message{Kind: KindAck, From: partner, Exchange: wire.Exchange(i + 1)}
	}
	for i := range acks {
		h.Receive(3600e9, &acks[i], new(Outcome), nil)
	}
	if got := h.PatienceWith(partner); got > 2*time.Second {
		t.Errorf("the patience is %v", got)
	}
}

// Each offer that fails shows how far away its partner is, although others were made since, and have failed as well.
func TestALateAnswerIsMeasuredAlthoughOthersWereOfferedSince(t *testing.T) {
	h := New(Config{Timeout: time.Second})
	for i := range maxFailed {
		h.failed.add(&outgoing{id: wire.Exchange(i + 1), to: wire.MemberID{byte(i + 1)}, since: 0})
	}
	for i := range maxFailed {
		ack := wire.Message{Kind: KindAck, From: wire.MemberID{byte(i + 1)}, Exchange: wire.Exchange(i + 1)}
		if !h.Expects(&ack) {
			t.Fatalf("the Ack of offer %d is not expected", i)
		}
		h.Receive(5e9, &ack, new(Outcome), nil)
		h.patience.roundTrip = 0
		if got := h.PatienceWith(ack.From); got != 2*time.Second {
			t.Errorf("the patience with partner %d is %v", i, got)
		}
	}
}
