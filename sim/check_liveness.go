package sim

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Progress watches for the state that a cluster without faults has to reach: one token is there, and only one, and under it
// every member that is up has run its operation. It is a [Watcher] and never has an error: how long to wait is for the one
// who asks.
type Progress struct {
	copies copies
	// token is the copy that was held last, since since; ran are those who have run under it.
	token int
	since policy.Time
	ran   map[int]bool
}

// NewProgress returns a progress that has seen nothing.
func NewProgress() *Progress { return &Progress{copies: newCopies(), ran: map[int]bool{}} }

// Watch notices which token is held, and begins anew whenever it is another one.
func (p *Progress) Watch(_ *Cluster, o *Occurrence) error {
	p.copies.watch(o)
	if o.Ends() {
		delete(p.ran, o.Member)
	}
	if !o.Completes() {
		return nil
	}
	held := p.copies.of(o.Member)
	if held > 0 && held != p.token {
		p.token, p.since = held, o.At
		clear(p.ran)
	}
	for i := range o.Effects {
		if o.Effects[i].Kind == policy.Run && held == p.token {
			p.ran[o.Member] = true
		}
	}
	return nil
}

// Reached reports whether every member that is up has run under the one token that was held, by anybody, for as long as
// quiet: long enough for any other token to have shown itself.
func (p *Progress) Reached(c *Cluster, quiet time.Duration) bool {
	if p.token == 0 || c.Now().Sub(p.since) < quiet {
		return false
	}
	for i := range c.members {
		if c.Up(i) && !p.ran[i] {
			return false
		}
	}
	return true
}
