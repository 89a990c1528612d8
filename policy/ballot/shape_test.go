package ballot_test

import (
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/downcount"
)

// shapePlan is what a seed draws of what a shell adds to its protocol.
type shapePlan struct {
	// maxDown is how many hosts of the roster may be down when a command starts, the one that runs it included; zero is
	// no limit.
	maxDown int
	// readyFor is for how long a host says the same about whether its operation is needed, and needed for which share
	// of these times it is; as where a stage waits for another one. Zero is always.
	readyFor time.Duration
	needed   float64
}

// drawShape draws a limit for one fleet in ten, but for none in which a host hears nobody in the end, and keeps all
// others waiting. The dice are such that the seeds which notice a variant draw none.
func (p *plan) drawShape() {
	if d := rand.New(rand.NewPCG(p.seed, 258)); d.Float64() < 0.1 && !p.standsDeaf {
		p.maxDown = 1 + d.IntN(2)
	}
}

// drawReady lets one fleet in ten ask its hosts whether they need a run.
func (p *plan) drawReady() {
	if d := rand.New(rand.NewPCG(p.seed, 260)); d.Float64() < 0.1 {
		p.readyFor, p.needed = p.lease/8+time.Duration(d.Int64N(int64(4*p.lease))), 0.1+0.8*d.Float64()
	}
}

// isReady reports whether the operation of a host is needed now. When all is healed, it always is.
func (w *world) isReady(i int) bool {
	if w.p.readyFor == 0 || w.calm {
		return true
	}
	d := rand.New(rand.NewPCG(w.p.seed+uint64(i)<<32, uint64(w.now/int64(w.p.readyFor))))
	return d.Float64() < w.p.needed
}

// asks lets the shells notice at the beginning of each of these times that a host needs a run now.
func (w *world) asks() {
	if w.p.readyFor == 0 || w.quiet {
		return
	}
	for i := range w.hosts {
		if h := &w.hosts[i]; h.up && !h.away && w.isReady(i) {
			w.ev.Kind = policy.Woke
			w.step(i)
		}
	}
	if !w.calm {
		w.at((w.now/int64(w.p.readyFor)+1)*int64(w.p.readyFor), evReady, 0, 0)
	}
}

// downAsSeenBy is who is down, as a host knows: whoever of the roster is not here.
func (w *world) downAsSeenBy(i int) downcount.Down {
	return downcount.Down{
		Members: w.p.members, Failed: w.p.members - bits.OnesCount16(uint16(w.hosts[i].sees|1<<i)), Slots: 1,
	}
}

// isHeldUp reports whether too many hosts are down for a command on this one, as it knows.
func (w *world) isHeldUp(i int) bool {
	down := w.downAsSeenBy(i)
	return downcount.Limit{Count: w.p.maxDown}.Bars(&down)
}

// tellReady tells a machine before each step whether a command may start.
func (w *world) tellReady(i int) {
	if m, ok := w.hosts[i].g.(policy.Askable); ok && (w.p.maxDown > 0 || w.p.readyFor > 0) {
		may := w.p.maxDown == 0 || !w.isHeldUp(i)
		m.SetReady(may && w.isReady(i), may)
	}
}

// notNeeded checks a command that starts: an operation is needed, or was when its process stood still just before.
func (c *checker) notNeeded(i int) {
	w, h := c.w, &c.w.hosts[i]
	stood := h.backAt > 0 && h.backAt == w.now
	if w.p.kind == paced && !h.run.demanded && !w.isReady(i) && !stood {
		w.fail("ready: %d runs its operation, which is not needed", i)
	}
}

// noticedBy is how long a host takes to notice that another one is down, at most.
const noticedBy = 40

// tooManyDown checks a command that starts: whoever has been down for so long that its host must know counts.
func (c *checker) tooManyDown(i int) {
	w := c.w
	long := w.now - noticedBy*int64(w.p.patience)
	if w.p.maxDown == 0 || w.hosts[i].since > long {
		return
	}
	n := 1
	for k := range w.hosts {
		if h := &w.hosts[k]; k != i && (!h.up || h.away) && h.downSince < long {
			n++
		}
	}
	if n > w.p.maxDown {
		w.fail("down: %d starts a command, and with it %d are down, and at most %d may be, for %v", i, n, w.p.maxDown,
			noticedBy*w.p.patience)
	}
}
