package ballot_test

import (
	"math/rand/v2"

	"github.com/wanderd/wanderd/policy"
)

// forgetPlan is what a seed draws of hosts that lose what they have saved.
//
// Rule 9: "Without a state file the same, with the greatest lease that the configuration allows."
type forgetPlan struct {
	// forgets is the share of a host's starts, but its first, at which its state directory is gone; its key is not.
	forgets float64
}

// drawForgets lets one fleet in seven lose state. Not those of a gate that runs once for all, in which a host that
// forgets a claim may let another one run; nor those whose leases differ, as nobody can know how long a lease was that
// is forgotten.
func (p *plan) drawForgets() {
	if d := rand.New(rand.NewPCG(p.seed, 280)); d.Float64() < 1.0/7 && !p.once && !p.rolledOut {
		p.forgets = 0.05 + 0.4*d.Float64()
	}
}

// forget takes from a host what it has saved, if it loses that before its next start, or sets it back to an older copy.
func (w *world) forget(i int) {
	h := &w.hosts[i]
	d := rand.New(rand.NewPCG(w.p.seed, 281<<32+uint64(h.life)<<8+uint64(i)))
	if h.life == 0 || w.calm || d.Float64() >= w.p.forgets {
		return
	}
	w.tell("%d has lost its state", i)
	h.disk = policy.State{}
	if w.shell.setsBack {
		h.disk = h.older
	}
	w.check.forgets(i)
}

// olderEvery is after how many saves the copy is made to which a host is set back.
const olderEvery = 4

// saved is called when a save is durable.
func (h *host) saved() {
	h.disk = h.writing
	if h.writes++; h.writes%olderEvery == 1 {
		h.older = h.disk
	}
}

// forgets takes into account that a member has forgotten its promise, and when it ran. The leases that it has lent
// still stand, because its quarantine is at least as long. Numbers of epochs run ahead of clocks where members propose
// often, so that of a start may be lower than an earlier one.
func (c *checker) forgets(i int) {
	c.told[i] = 0
	c.pace.now[i] = attempts{}
}
