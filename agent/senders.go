package agent

import (
	"net/netip"
	"time"

	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A member may have so many messages checked per second, and so many at once: far above what the protocol ever needs, far
// below what would keep a core busy with signatures.
const (
	rateRefill = time.Second / 1000
	rateBurst  = 200
)

// senders remembers something about each member that sends to this one: how much it may still send, and to which local
// address its messages come, so that answers leave from there, also on a multi-homed host.
type senders map[wire.MemberID]*sender

type sender struct {
	tokens float64
	asOf   policy.Time
	local  netip.Addr
}

func newSenders() senders { return make(senders) }

// admit takes one message out of a member's allowance, and reports whether there was one left.
func (s senders) admit(id wire.MemberID, now policy.Time) bool {
	m := s[id]
	if m == nil {
		m = &sender{tokens: rateBurst, asOf: now}
		s[id] = m
	}
	m.tokens = min(m.tokens+float64(now.Sub(m.asOf))/float64(rateRefill), rateBurst)
	m.asOf = now
	if m.tokens < 1 {
		return false
	}
	m.tokens--
	return true
}

// cameTo remembers the local address an authentic message came to.
func (s senders) cameTo(id wire.MemberID, local netip.Addr) {
	if m := s[id]; m != nil {
		m.local = local
	}
}

// local returns the address to answer a member from; the zero Addr leaves it to the kernel.
func (s senders) localFor(id wire.MemberID) netip.Addr {
	if m := s[id]; m != nil {
		return m.local
	}
	return netip.Addr{}
}

// keep forgets who is not in the view any more.
func (s senders) keep(view *membership.View) {
	for id := range s {
		if _, ok := view.Lookup(id); !ok {
			delete(s, id)
		}
	}
}
