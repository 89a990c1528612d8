package membership

import (
	"net/netip"
	"sync"
	"time"
)

// A member that others see by TCP, or of which others speak, may be out of reach for this one's datagrams, or its
// answers may not come back: it has another IP version, it advertises the address of another network, or a firewall
// drops UDP. memberlist probes each member with a datagram now and then. It has other ways to find out whether the
// member is alive, so it says nothing of a probe that fails, except in its log. A token has no other way.

// probes counts the direct probes in a row that members did not answer. It is safe for concurrent use.
type probes struct {
	mu sync.Mutex
	// rows are by node name.
	rows map[string]row
}

// row is a row of probes without an answer: how many, and when the first one was sent, about.
type row struct {
	count int
	since time.Time
}

const (
	// silentRow probes without an answer in a row are no accident: at 10 % loss in both directions it happens once in a
	// thousand.
	silentRow = 4
	// silentFor is how long they must have been coming: a member that starts or stops is none of them.
	silentFor = 20 * time.Second
)

func newProbes() *probes { return &probes{rows: make(map[string]row)} }

// failed records a probe without an answer.
func (p *probes) failed(node string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, known := p.rows[node]
	if !known && len(p.rows) >= checkedMax {
		clear(p.rows)
	}
	if r.count == 0 {
		r.since = now
	}
	r.count++
	p.rows[node] = r
}

// answered records an answer. A member that is gone counts as one that has answered.
func (p *probes) answered(node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.rows, node)
}

// silentSince is since when a member has not answered the probes of this one; zero if it answers, or may yet.
func (p *probes) silentSince(node string, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.rows[node]; r.count >= silentRow && now.Sub(r.since) >= silentFor {
		return r.since
	}
	return time.Time{}
}

// HasRoute reports whether this host has a route to an address, and an address of its own for it: on the other side of
// a route, a link-local address means nothing. It sends nothing.
func HasRoute(to netip.Addr) bool {
	own := routedAddr(netip.AddrPortFrom(to, 9).String())
	return own.IsValid() && (!own.IsLinkLocalUnicast() || to.IsLinkLocalUnicast())
}
