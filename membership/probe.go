package membership

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
)

// Datagrams of this member may not reach a member that others see by TCP or speak of, or its answers may not come back:
// it has another IP version, it advertises the address of another network, or a firewall drops UDP. memberlist probes
// each member with a datagram now and then. But it has other ways to find out whether the member is alive, so it
// reports a probe that fails only in its log. A token has no other way.

// probes counts the probes in a row that had no answer: of each member, and of all members together. It is safe for
// concurrent use.
type probes struct {
	mu sync.Mutex
	// rows has the rows by node name.
	rows map[string]row
	// all is the row of all members.
	all allRow
}

// row is a row of datagrams to one member that had no answer.
type row struct {
	// silent are all of them, unrouted those for which this host has no route.
	silent, unrouted tally
	// gone is true if the member has failed or left: then only a missing route counts.
	gone bool
}

// tally counts datagrams, and has about when the first and the last one were sent.
type tally struct {
	count       int
	first, last time.Time
}

// add counts a datagram.
func (t *tally) add(now time.Time) {
	if t.count == 0 {
		t.first = now
	}
	t.count++
	t.last = now
}

// isLong reports whether there are enough datagrams over at least such a time.
func (t *tally) isLong(least time.Duration) bool {
	return t.count >= silentRow && t.last.Sub(t.first) >= least
}

// isLong reports whether a row is long enough to say something about its member.
func (r *row) isLong() bool { return r.silent.isLong(silentFor) || r.unrouted.isLong(unroutedFor) }

// allRow is a row of probes of all members, none of which had an answer, neither a direct one nor by way of another
// member, but all of which had one by TCP. So these members live, and not all of them are gone at once.
type allRow struct {
	count int
	since time.Time
	// first is the first member of the row. several is true if there is another one.
	first   string
	several bool
}

// add appends a probe of a member.
func (r *allRow) add(node string, now time.Time) {
	if r.count == 0 {
		r.first, r.since = node, now
	}
	r.count++
	r.several = r.several || node != r.first
}

// isLong reports whether a row is long enough to say that nobody answers the datagrams of this host.
func (r *allRow) isLong() bool { return r.several && r.count >= unheardRow }

const (
	// silentRow is how many probes in a row without an answer are no accident: at 10 % loss in both directions so many
	// fail once in a thousand times.
	silentRow = 4
	// silentFor is the least time between the first and the last of them: a member that starts, stops or crashes is
	// probed for a shorter time.
	silentFor = 20 * time.Second
	// unroutedFor is the least time between the first and the last datagram without a route: a host that starts, or
	// changes its addresses, has no route for a shorter time. No loss and no crash looks like this.
	unroutedFor = 3 * time.Second
	// unheardRow is how many probes of several members in a row, at one a second, are no accident. If a host loses a
	// third of its packets in each direction, a direct probe fails with a probability of 5/9, and so does each way
	// through another member. In a fleet of three, so many fail once in three weeks, for two seconds.
	unheardRow = 12
)

// hasNoRoute reports whether a datagram could not be sent because this host has no route to its address.
func hasNoRoute(err error) bool {
	return errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

func newProbes() *probes { return &probes{rows: make(map[string]row)} }

// failed records a probe without an answer.
func (p *probes) failed(node string, now time.Time) { p.unsent(node, nil, now) }

// unsent records a datagram that could not be sent.
func (p *probes) unsent(node string, err error, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, unrouted := p.rows[node], hasNoRoute(err)
	if r.gone && !unrouted {
		return
	}
	r.silent.add(now)
	if unrouted {
		r.unrouted.add(now)
	}
	p.put(node, r)
}

// overTCP records a probe that was answered only by TCP.
func (p *probes) overTCP(node string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all.add(node, now)
}

// saw records that a member is there, or gone. A member's end does not end a long row: a host that gets no answers to
// its probes takes all others for failed, and their connections to it bring them back, again and again.
func (p *probes) saw(node string, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.rows[node]
	if r.gone == gone {
		return
	}
	if r.gone = gone; gone || r.isLong() {
		p.put(node, r)
	} else {
		delete(p.rows, node)
	}
}

func (p *probes) put(node string, r row) {
	if _, known := p.rows[node]; !known && len(p.rows) >= admission.MaxChecked {
		clear(p.rows)
	}
	p.rows[node] = r
}

// answered records an answer.
func (p *probes) answered(node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.rows, node)
	p.all = allRow{}
}

// silentSince returns since when a member has not answered the probes of this one; zero if it answers, or may yet
// answer. If nobody answers, this holds for all members that are not gone.
func (p *probes) silentSince(node string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r := p.rows[node]; {
	case r.isLong():
		return r.silent.first
	case p.all.isLong() && !r.gone:
		return p.all.since
	}
	return time.Time{}
}
