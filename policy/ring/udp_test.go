package ring

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// offered lets a member that holds the token hear that another one wants it, and returns the offer.
func offered(m *Machine, wants wire.MemberID) (offer wire.Message) {
	for _, e := range hear(m, wants, request{tour: 1, origin: 3, number: 1}) {
		if e.Kind == policy.Send && handoff.Owns(e.Msg.Kind) {
			offer = e.Msg
		}
	}
	return offer
}

// A call that has waited for the end of a handoff has met the token, also in its second round: it goes on as a new call
// of this member, which leaves the copies of the token where they are.
func TestACallThatHasMetATokenOnOfferGoesOnAsANewCall(t *testing.T) {
	cfg := configOf(Q, rosterOf(4), 0)
	cfg.Links = UDP
	m := New(cfg)
	m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: cfg.Members}, nil)
	offer := offered(m, cfg.Members[3])
	hear(m, cfg.Members[3], request{origin: 2, number: 1, call: 7, round: true})
	ack := handoff.Reply(&offer, handoff.KindAck, 5)
	m.Step(policy.Instant{}, &policy.Event{Kind: policy.Received, Msg: ack}, nil)
	if m.holds() || len(m.udp.outbox) != 1 {
		t.Fatalf("the machine is %v, with %v to send", m, m.udp.outbox)
	}
	if r := m.udp.outbox[0]; r.call == 0 || r.origin != m.rank || r.round {
		t.Errorf("%+v goes on", r)
	}
}

// A message that is repeated is taken once, also while messages of other lives of its origin are under way.
func TestARepeatedMessageIsOldAlsoBetweenThoseOfOtherLives(t *testing.T) {
	life := func(n, number uint64) uint64 { return n<<32 | number }
	var l lives
	for _, tc := range []struct {
		number uint64
		old    bool
	}{
		{life(7, 1), false},
		{life(9, 1), false},
		{life(7, 1), true},
		{life(9, 1), true},
		{life(7, 3), false},
		{life(3, 5), false},
		{life(8, 2), false},
		{life(7, 2), true},
		{life(9, 1), true},
		{life(3, 5), true},
		{life(4, 1), false}, // a fifth life takes the place of the one that was longest silent
		{life(8, 2), true},
		{life(3, 5), true},
		{life(7, 3), true},
		{life(9, 1), false},
	} {
		if old := l.isOld(tc.number); old != tc.old {
			t.Errorf("number %d of life %d is old: %t, want %t", tc.number&(1<<32-1), tc.number>>32, old, tc.old)
		}
	}
}

// A member that stops stays until its neighbour has taken all that it has to send: it may have passed on the request of
// another one.
func TestAMemberDoesNotStopBeforeItsRequestIsTaken(t *testing.T) {
	cfg := configOf(Q, rosterOf(4), 1)
	cfg.Links = UDP
	m := New(cfg)
	m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: cfg.Members}, nil)
	out := hear(m, cfg.Members[2], request{tour: 0, origin: 3, number: 1})
	out = m.Step(policy.Instant{}, &policy.Event{Kind: policy.Leave}, out)
	now := policy.Time(0)
	for range 3 {
		now, _ = m.NextWake()
		out = m.Step(policy.Instant{Time: now}, &policy.Event{Kind: policy.Woke}, out)
	}
	if gone := func(e policy.Effect) bool { return e.Kind == policy.Gone }; slices.ContainsFunc(out, gone) {
		t.Errorf("it has stopped, and has %v to send", m.udp.outbox)
	}
	if len(m.udp.outbox) != 1 {
		t.Errorf("it has %v to send, want one request", m.udp.outbox)
	}
}

// A request that the neighbour does not take is sent again: soon at first, and at last once in a timeout.
func TestARequestIsRepeatedMoreAndMoreRarely(t *testing.T) {
	cfg := configOf(Q, rosterOf(4), 1)
	cfg.Links = UDP
	m := New(cfg)
	m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: cfg.Members}, nil)
	out := m.Step(policy.Instant{}, &policy.Event{Kind: policy.Wanted}, nil)
	sends := func(e policy.Effect) bool { return e.Kind == policy.Send }
	var now policy.Time
	var pauses []time.Duration
	for last := now; len(pauses) < 5; {
		if !slices.ContainsFunc(out, sends) {
			t.Fatalf("after %v it sends nothing", pauses)
		}
		now, _ = m.NextWake()
		pauses, last = append(pauses, now.Sub(last)), now
		out = m.Step(policy.Instant{Time: now}, &policy.Event{Kind: policy.Woke}, nil)
	}
	want := []time.Duration{cfg.Timeout / 8, cfg.Timeout / 4, cfg.Timeout / 2, cfg.Timeout, cfg.Timeout}
	if !slices.Equal(pauses, want) {
		t.Errorf("it is sent again after %v, want %v", pauses, want)
	}
}

// Line 18: when the token has been passed on, the next k members behind its holder get copies of it.
func TestAMemberThatHasPassedTheTokenSendsItsCopies(t *testing.T) {
	cfg := configOf(Q, rosterOf(4), 0)
	cfg.Links, cfg.Backups = UDP, 2
	m := New(cfg)
	m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: cfg.Members}, nil)
	offer := offered(m, cfg.Members[3])
	ack := handoff.Reply(&offer, handoff.KindAck, 5)
	var to []wire.MemberID
	for _, e := range m.Step(policy.Instant{}, &policy.Event{Kind: policy.Received, Msg: ack}, nil) {
		if e.Kind == policy.Send && e.Msg.Kind == kcopies.KindToken {
			to = append(to, e.Msg.To)
		}
	}
	at := slices.Index(cfg.Members, offer.To)
	if want := []wire.MemberID{cfg.Members[(at+1)%4], cfg.Members[(at+2)%4]}; !slices.Equal(to, want) {
		t.Errorf("passed to %v, it sends copies to %v, want %v", offer.To, to, want)
	}
}
