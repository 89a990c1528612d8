package agent

import (
	"time"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/membership"
)

// A host that sees no other member of a gate when it starts may be cut off from them, so its gate waits for one: see
// --alone. But some gates have one member only: that of a zone with one host, or one that no other host is configured
// with. A host that sees other hosts of the fleet, none of which has the gate, is not cut off, and goes on alone. It
// does so also if another member of the gate is away, as it would if it had not restarted.

// companyAfter is how long a host must have seen others until a gate believes that none of them has it: a view is not
// complete at once.
const companyAfter = 10 * time.Second

// company is since when this host has seen another one; zero if it sees none. told is true once its gates know.
type company struct {
	since time.Time
	told  bool
}

// see takes a new view.
func (c *company) see(view *membership.View) {
	switch {
	case len(view.Members) <= 1:
		*c = company{}
	case c.since.IsZero():
		c.since = time.Now()
	}
}

// is reports whether the host has company.
func (c *company) is() bool { return !c.since.IsZero() && time.Since(c.since) >= companyAfter }

// tell tells the gates once that the host has company.
func (c *company) tell(gates []*gate.Gate) {
	if c.told || !c.is() {
		return
	}
	c.told = true
	for _, g := range gates {
		if gate.IsAlone(g) {
			g.Meet()
		}
	}
}

// untilTold is how long it takes until the gates are to be told; idleWake if they need not be.
func (c *company) untilTold() time.Duration {
	if c.told || c.since.IsZero() {
		return idleWake
	}
	return companyAfter - time.Since(c.since)
}
