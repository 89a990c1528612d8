package handoff_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

const (
	timeout = 400 * time.Millisecond
	// unmeasured is how long a receiver waits before its first measurement.
	unmeasured = 4 * timeout
	gate       = wire.GateID(7)
)

var (
	annsID  = wire.MemberID{0xa}
	bobsID  = wire.MemberID{0xb}
	thiefID = wire.MemberID{0xf}

	theToken = wire.Ref{ID: wire.TokenID{Birth: 1000, Generator: wire.MemberID{0xc}, Random: 99}, Seq: 5}
)

// member is one end of a handoff and its owner, which records whether it holds the token.
type member struct {
	name  string
	h     handoff.Machine
	holds bool
	notes []policy.Note
}

func newMember(name string, id wire.MemberID, entropy policy.Entropy) *member {
	return &member{name: name, h: handoff.New(handoff.Config{Gate: gate, Self: id, Timeout: timeout, Entropy: entropy})}
}

// pair is two members, one clock and the air between them. Messages stay in the air until the test delivers or drops
// them. After each step at most one of the two holds the token.
type pair struct {
	t        *testing.T
	now      policy.Time
	ann, bob *member
	air      []wire.Message
	out      []policy.Effect
}

// newPair returns ann, who holds the token, and bob.
func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{
		t:   t,
		ann: newMember("ann", annsID, rand.NewPCG(1, 1)),
		bob: newMember("bob", bobsID, rand.NewPCG(2, 2)),
	}
	p.ann.holds = true
	return p
}

// offer begins the handoff from ann to bob.
func (p *pair) offer() {
	p.t.Helper()
	p.took(p.ann, handoff.Outcome{}, p.ann.h.Offer(p.now, &theToken, &wire.Load{}, bobsID, p.out[:0]))
}

// took puts the messages of m into the air and acts as its owner.
func (p *pair) took(m *member, o handoff.Outcome, out []policy.Effect) {
	p.t.Helper()
	p.out = out
	for i := range out {
		switch e := &out[i]; e.Kind {
		case policy.Send:
			p.air = append(p.air, e.Msg)
		case policy.Gave:
			if e.Cause != policy.CausePassed {
				p.t.Fatalf("a handoff gives no token up because it is %v", e.Cause)
			}
		case policy.Tell:
			m.notes = append(m.notes, e.Note)
		case policy.Save, policy.Run, policy.Extend, policy.Stop, policy.PreSign, policy.Took, policy.Announce,
			policy.Proclaim, policy.Gone:
			p.t.Fatalf("a handoff has no business with %v", e.Kind)
		}
	}
	switch o.Ending {
	case handoff.Arrived:
		m.holds = true
	case handoff.Passed:
		m.holds = false
	case handoff.Pending, handoff.Failed:
	}
	if p.ann.holds && p.bob.holds {
		p.t.Fatal("both hold the token")
	}
}

// receive delivers msg to its addressee and returns how many messages that caused.
func (p *pair) receive(msg wire.Message) (replies int) {
	p.t.Helper()
	m := p.ann
	if msg.To == bobsID {
		m = p.bob
	}
	before := len(p.air)
	var o handoff.Outcome
	out := m.h.Receive(p.now, &msg, &o, p.out[:0])
	p.took(m, o, out)
	return len(p.air) - before
}

// take removes the oldest message of a kind from the air.
func (p *pair) take(kind wire.Kind) wire.Message {
	p.t.Helper()
	i := slices.IndexFunc(p.air, func(m wire.Message) bool { return m.Kind == kind })
	if i < 0 {
		p.t.Fatalf("no %v in the air, only %s", kind, p.inTheAir())
	}
	msg := p.air[i]
	p.air = slices.Delete(p.air, i, i+1)
	return msg
}

func (p *pair) deliver(kind wire.Kind) wire.Message {
	p.t.Helper()
	msg := p.take(kind)
	p.receive(msg)
	return msg
}

func (p *pair) drop(kind wire.Kind) {
	p.t.Helper()
	p.take(kind)
}

// advance lets time pass, and wakes both when they are due.
func (p *pair) advance(d time.Duration) {
	p.t.Helper()
	end := p.now.Add(d)
	for {
		m, at := p.nextWake()
		if m == nil || at > end {
			p.now = end
			return
		}
		p.now = max(p.now, at)
		var o handoff.Outcome
		out := m.h.Wake(p.now, &o, p.out[:0])
		p.took(m, o, out)
		if next, ok := m.h.NextWake(); ok && next <= p.now {
			p.t.Fatalf("%s was woken at %v and asks for %v", m.name, p.now, next)
		}
	}
}

func (p *pair) nextWake() (m *member, at policy.Time) {
	for _, each := range []*member{p.ann, p.bob} {
		if t, ok := each.h.NextWake(); ok && (m == nil || t < at) {
			m, at = each, t
		}
	}
	return m, at
}

// stop lets time pass without a wake-up, as in a paused process.
func (p *pair) stop(d time.Duration) { p.now = p.now.Add(d) }

// advanceToNextWake lets time pass until the next wake-up, and does it.
func (p *pair) advanceToNextWake() {
	p.t.Helper()
	m, at := p.nextWake()
	if m == nil {
		p.t.Fatal("nobody asks to be woken")
	}
	p.advance(at.Sub(p.now))
}

func (p *pair) inTheAir() string {
	var kinds []string
	for _, m := range p.air {
		kinds = append(kinds, handoff.Kinds().Of(m.Kind).Name)
	}
	return strings.Join(kinds, " ")
}

func (p *pair) wantInTheAir(want string) {
	p.t.Helper()
	if got := p.inTheAir(); got != want {
		p.t.Fatalf("in the air: %q, want %q", got, want)
	}
}

func (p *pair) wantHolder(want string) {
	p.t.Helper()
	got := "nobody"
	for _, m := range []*member{p.ann, p.bob} {
		if m.holds {
			got = m.name
		}
	}
	if got != want {
		p.t.Fatalf("%s holds the token, want %s", got, want)
	}
}

// wantNotes wants exactly these notes of m since the last call.
func (p *pair) wantNotes(m *member, want ...policy.Note) {
	p.t.Helper()
	if !slices.Equal(m.notes, want) {
		p.t.Fatalf("%s notes %v, want %v", m.name, handoff.Notes().Names(m.notes), handoff.Notes().Names(want))
	}
	m.notes = nil
}

// wantBothOut wants both to have left the handoff.
func (p *pair) wantBothOut() {
	p.t.Helper()
	if m, at := p.nextWake(); m != nil {
		p.t.Fatalf("%s is still in a handoff until %v", m.name, at)
	}
}

// offerFrom returns a Token to bob from another member.
func offerFrom(i int) wire.Message {
	return wire.Message{
		Gate: gate, Kind: handoff.KindToken, From: wire.MemberID{0xd, byte(i)}, To: bobsID,
		Exchange: wire.Exchange(1000 + i), Token: wire.Ref{ID: theToken.ID, Seq: wire.Seq(100 + i)},
	}
}

// pass completes one handoff from ann to bob. Afterwards ann holds the token again.
func (p *pair) pass() (offered, acknowledged, committed wire.Message) {
	p.t.Helper()
	p.offer()
	offered = p.deliver(handoff.KindToken)
	acknowledged = p.deliver(handoff.KindAck)
	committed = p.deliver(handoff.KindCommit)
	p.wantHolder("bob")
	p.bob.holds, p.ann.holds = false, true
	p.ann.notes, p.bob.notes = nil, nil
	return offered, acknowledged, committed
}
