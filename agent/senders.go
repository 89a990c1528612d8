package agent

import (
	"net/netip"
	"time"

	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/membership/streams"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// The allowances of messages whose signature is checked. Each is far above the needs of the protocol, and far below the
// signature checks that fill a core: all sources together can make this agent spend 7 % of one.
const (
	memberRefill     = time.Second / 1000
	sourceRefill     = time.Second / 100
	allSourcesRefill = time.Second / 2000
	// queueRefill and queueBurst are for messages of a source that wait for the loop, before anything is known of their
	// signatures. The burst is a quarter of the queue.
	queueRefill = time.Second / 2000
	queueBurst  = inboundQueue / 4
	// rateBurst is for a member or a source, allSourcesBurst for all sources.
	rateBurst       = 200
	allSourcesBurst = 2 * rateBurst
)

// allowance is a token bucket: it has at most burst messages, and gets one more in each refill.
type allowance struct {
	left float64
	asOf policy.Time
}

func (w *allowance) fill(now policy.Time, refill time.Duration, burst float64) {
	w.left = min(w.left+float64(now.Sub(w.asOf))/float64(refill), burst)
	w.asOf = now
}

// take reports whether a message was left, and takes it.
func (w *allowance) take(now policy.Time, refill time.Duration, burst float64) bool {
	w.fill(now, refill, burst)
	if w.left < 1 {
		return false
	}
	w.left--
	return true
}

// senders decides whose signatures are checked. Anybody can write a member's identity into a message. So a message
// counts against the member's allowance only if it comes from where the member has announced to be, and against a
// second one of the member if it comes from where its last good signature came; otherwise against the allowance of its
// source address. There are two because a good signature may be played back: what comes from elsewhere must not use up
// what the member itself needs.
type senders struct {
	members map[wire.MemberID]*sender
	sources sources
	// all is what the sources have together.
	all allowance
}

// sender is a member that has sent a message.
type sender struct {
	allowance, elsewhere allowance
	// src is where its last authentic message came from, local the local address to which it came: answers leave from
	// that one, also on a multi-homed host.
	src   netip.AddrPort
	local netip.Addr
}

func newSenders() senders {
	return senders{
		members: make(map[wire.MemberID]*sender), sources: newSources(sourceRefill, rateBurst),
		all: allowance{left: allSourcesBurst},
	}
}

// admit reports whether to check the signature of a message that says it is from id, and takes it from an allowance.
// The member has announced to be at the given address.
func (s *senders) admit(id wire.MemberID, announced, src netip.AddrPort, now policy.Time) bool {
	switch m := s.members[id]; {
	case src == announced:
		return s.member(id, now).allowance.take(now, memberRefill, rateBurst)
	case m != nil && m.src == src:
		return m.elsewhere.take(now, memberRefill, rateBurst)
	}
	return s.sources.admit(src.Addr(), now) && s.all.take(now, allSourcesRefill, allSourcesBurst)
}

// cameTo records that an authentic message of id came from src to the local address.
func (s *senders) cameTo(id wire.MemberID, src netip.AddrPort, local netip.Addr, now policy.Time) {
	m := s.member(id, now)
	m.src, m.local = src, local
}

func (s *senders) member(id wire.MemberID, now policy.Time) *sender {
	m := s.members[id]
	if m == nil {
		full := allowance{left: rateBurst, asOf: now}
		m = &sender{allowance: full, elsewhere: full}
		s.members[id] = m
	}
	return m
}

// localFor returns the local address for messages to a member; the zero Addr lets the kernel choose.
func (s *senders) localFor(id wire.MemberID) netip.Addr {
	if m := s.members[id]; m != nil {
		return m.local
	}
	return netip.Addr{}
}

func (s *senders) keep(view *membership.View) {
	for id := range s.members {
		if _, ok := view.Lookup(id); !ok {
			delete(s.members, id)
		}
	}
}

// maxSources is how many sources have an allowance of their own; the others share one.
const maxSources = 256

// sources has the allowance of each source address. It is for one goroutine.
type sources struct {
	refill time.Duration
	burst  float64
	known  map[netip.Addr]*allowance
}

func newSources(refill time.Duration, burst float64) sources {
	return sources{refill: refill, burst: burst, known: make(map[netip.Addr]*allowance)}
}

// admit takes one message from the allowance of an address, and reports whether there was one left. It does not
// allocate for an address that it knows. Addresses whose allowance is full are forgotten where places are short.
func (s *sources) admit(addr netip.Addr, now policy.Time) bool {
	addr = streams.SourceOf(addr)
	if s.known[addr] == nil && len(s.known) >= maxSources {
		for old, its := range s.known {
			if its.fill(now, s.refill, s.burst); its.left == s.burst {
				delete(s.known, old)
			}
		}
		if len(s.known) >= maxSources {
			addr = netip.Addr{}
		}
	}
	its := s.known[addr]
	if its == nil {
		its = &allowance{left: s.burst, asOf: now}
		s.known[addr] = its
	}
	return its.take(now, s.refill, s.burst)
}
