package handoff_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// flight is a message in flight.
type flight struct {
	msg wire.Message
	at  policy.Time
}

// distant is a pair with a delay and without loss. Ann offers the token again whenever an offer fails.
type distant struct {
	*pair
	delay  func() time.Duration
	flying []flight
	offers int
}

func newDistant(delay func() time.Duration) *distant {
	d := &distant{delay: delay, pair: &pair{
		ann: newMember("ann", annsID, rand.NewPCG(1, 1)), bob: newMember("bob", bobsID, rand.NewPCG(2, 2)),
	}}
	d.ann.holds = true
	d.offer()
	return d
}

func (d *distant) offer() {
	d.offers++
	d.took(d.ann, handoff.Outcome{}, d.ann.h.Offer(d.now, &theToken, &wire.Load{}, bobsID, nil))
}

func (d *distant) took(m *member, o handoff.Outcome, out []policy.Effect) {
	m.holds = m.holds && o.Ending != handoff.Passed || o.Ending == handoff.Arrived
	for i := range out {
		if out[i].Kind == policy.Send {
			d.flying = append(d.flying, flight{out[i].Msg, d.now.Add(d.delay())})
		}
	}
	if o.Ending == handoff.Failed {
		d.offer()
	}
}

// next does the next event, and reports whether there is one.
func (d *distant) next() bool {
	first := -1
	m, at := d.nextWake()
	for i := range d.flying {
		if f := &d.flying[i]; (m == nil || f.at <= at) && (first < 0 || f.at < d.flying[first].at) {
			first = i
		}
	}
	var o handoff.Outcome
	switch {
	case first >= 0:
		f := d.flying[first]
		d.flying = append(d.flying[:first], d.flying[first+1:]...)
		d.now = max(d.now, f.at)
		to := d.ann
		if f.msg.To == bobsID {
			to = d.bob
		}
		out := to.h.Receive(d.now, &f.msg, &o, nil)
		d.took(to, o, out)
	case m != nil:
		d.now = at
		out := m.h.Wake(d.now, &o, nil)
		d.took(m, o, out)
	default:
		return false
	}
	return true
}

// Without loss of messages the token arrives and is never lost, for delays up to three and a half timeouts with jitter,
// although neither member has measured the network.
func TestWithoutLossTheTokenArrivesIfRoundTripsTakeSeveralTimeouts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.Int64Range(0, int64(3*timeout)).Draw(t, "least")
		jitter := rapid.Int64Range(0, min(least, int64(timeout))/2).Draw(t, "jitter")
		d := newDistant(func() time.Duration {
			return time.Duration(least + rapid.Int64Range(0, jitter).Draw(t, "delay"))
		})
		for d.next() {
			if d.ann.holds && d.bob.holds {
				t.Fatal("both hold the token")
			}
			if d.offers > 20 {
				t.Fatal("it is offered for ever")
			}
		}
		if !d.bob.holds || d.ann.holds {
			t.Fatalf("nothing was lost, and the token is gone: ways take %v and up to %v more", time.Duration(least),
				time.Duration(jitter))
		}
	})
}

// While no member answers, for any earlier round trips: at most 3 + log₂(timeout / 5 ms) Tokens leave in a timeout, and
// on average fewer than three.
func TestOffersThatFailAreBounded(t *testing.T) {
	p := newPair(t)
	for range 20 {
		p.pass()
	}
	burst := 3 + int(math.Ceil(math.Log2(float64(timeout/(5*time.Millisecond)))))
	var sent []policy.Time
	p.offer()
	for p.now < policy.Time(1000*timeout) {
		p.advanceToNextWake()
		if _, busy := p.ann.h.NextWake(); !busy {
			p.offer()
		}
		for range p.air {
			sent = append(sent, p.now)
		}
		p.air = p.air[:0]
	}
	for i := burst; i < len(sent); i++ {
		if took := sent[i].Sub(sent[i-burst]); took < timeout {
			t.Fatalf("%d Tokens within %v", burst+1, took)
		}
	}
	if len(sent) > 3*1000 {
		t.Errorf("%d Tokens in 1000 timeouts", len(sent))
	}
}

// A late Ack measures how long answers take, so the member waits long enough for the current offer.
func TestALateAckMakesTheSenderPatient(t *testing.T) {
	p := newPair(t)
	p.offer()
	p.deliver(handoff.KindToken)
	late := p.take(handoff.KindAck)
	p.advance(timeout)
	p.wantNotes(p.ann, handoff.NoteOffered, handoff.NoteNoAck)
	p.air = nil
	p.offer()
	p.advance(timeout / 10)
	p.receive(late)
	p.wantNotes(p.ann, handoff.NoteOffered, handoff.NoteStrayAck)
	if got, want := p.ann.h.Patience(), 2*timeout; got != want {
		t.Fatalf("the patience is %v, want %v", got, want)
	}
	p.advance(timeout + timeout/2)
	p.wantNotes(p.ann)
	p.receive(late) // a replay adds nothing
	if p.ann.h.Patience() > 2*timeout {
		t.Error("a recorded Ack makes it more patient")
	}
	p.air = p.air[:1]
	p.deliver(handoff.KindToken)
	p.deliver(handoff.KindAck)
	p.deliver(handoff.KindCommit)
	p.wantHolder("bob")
}
