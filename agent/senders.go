package agent

import (
	"net/netip"
	"time"

	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// The rate limit of checked messages for each member: far above the needs of the protocol, and far below the signature checks that
// fill a core.
const (
	rateRefill = time.Second / 1000
	rateBurst  = 200
)

// senders has the remaining allowance of each member that sends to this one, and the local address to which its messages come, so
// that answers leave from that address, also on a multi-homed host.
type senders map[wire.MemberID]*sender

type sender struct {
	tokens float64
	asOf   policy.Time
	local  netip.Addr
}

func newSenders() senders { return make(senders) }

// admit takes one message from a member's allowance, and reports whether there was one left.
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

// cameTo stores the local address to which an authentic message came.
func (s senders) cameTo(id wire.MemberID, local netip.Addr) {
	if m := s[id]; m != nil {
		m.local = local
	}
}

// localFor returns the local address for messages to a member; the zero Addr lets the kernel choose.
func (s senders) localFor(id wire.MemberID) netip.Addr {
	if m := s[id]; m != nil {
		return m.local
	}
	return netip.Addr{}
}

// keep removes members that are no longer in the view.
func (s senders) keep(view *membership.View) {
	for id := range s {
		if _, ok := view.Lookup(id); !ok {
			delete(s, id)
		}
	}
}
