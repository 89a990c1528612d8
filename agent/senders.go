package agent

import (
	"net/netip"
	"time"

	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/membership/streams"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// These are the allowances of messages whose signature is checked. Each is far above the needs of the protocol, and far
// below the number of signature checks that would use a whole core: all sources together can make this agent spend 7 %
// of a core.
const (
	memberRefill     = time.Second / 1000
	sourceRefill     = time.Second / 100
	allSourcesRefill = time.Second / 2000
	// queueRefill and queueBurst are the allowance of a source for messages that wait for the loop, before anything is
	// known of their signatures. The burst is a quarter of the queue.
	queueRefill = time.Second / 2000
	queueBurst  = inboundQueue / 4
	// rateBurst is the burst of one member or one source, allSourcesBurst that of all sources together.
	rateBurst       = 200
	allSourcesBurst = 2 * rateBurst
)

// allowance is a token bucket: it holds at most burst messages, and gains one in each refill.
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
// counts against the member's allowance only if it comes from the address that the member has announced. It counts
// against a second allowance of the member if it comes from where the member's last good signature came. Otherwise it
// counts against the allowance of its source address. There are two because a good signature may be played back:
// messages from elsewhere must not use up what the member itself needs.
type senders struct {
	members map[wire.MemberID]*sender
	sources sources
	// all is the allowance that all sources share.
	all allowance
}

// sender is a member that has sent a message.
type sender struct {
	allowance, elsewhere allowance
	// src is the source of the member's last authentic message, local the local address to which that came. Answers
	// leave from local, also on a multi-homed host.
	src   netip.AddrPort
	local netip.Addr
}

func newSenders() senders {
	return senders{
		members: make(map[wire.MemberID]*sender), sources: newSources(sourceRefill, rateBurst),
		all: allowance{left: allSourcesBurst},
	}
}

// admit reports whether to check the signature of a message that claims to be from id, and takes the message from an
// allowance. announced is the address that the member has announced.
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

// maxSources is how many sources have an allowance of their own; all others share one.
const maxSources = 256

// sources has the allowance of each source address. Only one goroutine may use it.
type sources struct {
	refill time.Duration
	burst  float64
	known  map[netip.Addr]*allowance
}

func newSources(refill time.Duration, burst float64) sources {
	return sources{refill: refill, burst: burst, known: make(map[netip.Addr]*allowance)}
}

// admit takes one message from the allowance of an address, and reports whether one was left. It does not allocate for
// an address that it knows. When places are short, it forgets addresses whose allowance is full.
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
