package membership

import (
	"sync"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
)

// Datagrams of this member may not reach a member that others see by TCP or speak of, or its answers may not come back:
// it has another IP version, it advertises the address of another network, or a firewall drops UDP. memberlist probes
// each member with a datagram now and then. But it has other ways to find out whether the member is alive, so it
// reports a probe that fails only in its log. A token has no other way.

// probes counts, for each member, the direct probes in a row that it did not answer. It is safe for concurrent use.
type probes struct {
	mu sync.Mutex
	// rows has the rows by node name.
	rows map[string]row
}

// row is a row of probes without an answer: how many, and about when the first and the last one were sent. gone is true
// if the member has failed or left: a datagram that cannot be sent to such a member does not count.
type row struct {
	count       int
	since, last time.Time
	gone        bool
}

// isLong reports whether a row is long enough to say something about its member.
func (r row) isLong() bool { return r.count >= silentRow && r.last.Sub(r.since) >= silentFor }

const (
	// silentRow is how many probes in a row without an answer are no accident: at 10 % loss in both directions so many
	// fail once in a thousand times.
	silentRow = 4
	// silentFor is the least time between the first and the last of them: a member that starts, stops or crashes is
	// probed for a shorter time.
	silentFor = 20 * time.Second
)

func newProbes() *probes { return &probes{rows: make(map[string]row)} }

// failed records a probe without an answer.
func (p *probes) failed(node string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.rows[node]
	if r.gone {
		return
	}
	if r.count == 0 {
		r.since = now
	}
	r.count++
	r.last = now
	p.put(node, r)
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
}

// silentSince returns since when a member has not answered the probes of this one; zero if it answers, or may yet
// answer.
func (p *probes) silentSince(node string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.rows[node]; r.isLong() {
		return r.since
	}
	return time.Time{}
}
