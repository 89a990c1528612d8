package ballot_test

import (
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/strict"
)

// oncePlan is what a seed draws of a gate that runs once for its whole roster.
type oncePlan struct {
	once bool
}

// drawOnce lets one in five fleets that have an operation run it once in each interval, which is then long enough for a
// few tries. Its members always have their operations due by the end of it.
func (p *plan) drawOnce() {
	if d := rand.New(rand.NewPCG(p.seed, 259)); d.Float64() < 0.2 {
		p.once = true
		p.minInterval = max(p.minInterval, 6*p.lease)
	}
}

// claimed is what a member is known to have claimed, in true time: from when its run began, until that has failed.
type claimed struct {
	of    int
	began int64
	is    bool
}

// intervals checks that a run starts only when the interval of the last one is over, unless that has failed: "one
// success in an interval is enough for all". A run whose end nobody has seen counts, too.
type intervals struct {
	last claimed
	// runs are how many runs there were, and spared how many a claim has put off.
	runs, spared int
}

// started checks a run of a member's own operation. A member has asked for the interval up to two leases before it
// runs, and clocks differ.
func (k *intervals) started(w *world, i int) {
	if !w.p.once || w.hosts[i].run.demanded {
		return
	}
	k.runs++
	least := int64(float64(w.p.minInterval)*(1-2*w.p.drift)) - 2*int64(w.p.lease)
	if since := w.now - k.last.began; k.last.is && since < least {
		w.fail("once: %d runs %v after a run of %d that has not failed, and once in %v is enough", i,
			time.Duration(since), k.last.of, w.p.minInterval)
	}
	k.last = claimed{of: i, began: w.now, is: true}
	w.tell("%d runs for all", i)
}

// stepped looks for the end of a run that has failed, and for one that was put off.
func (k *intervals) stepped(w *world, i int) {
	own := k.last.of == i && w.hosts[i].run.token.Seq != 0 && !w.hosts[i].run.demanded
	if w.ev.Kind == policy.Finished && own && w.ev.Outcome != policy.Succeeded {
		k.last.is = false
	}
	for n := range w.out {
		if e := &w.out[n]; e.Kind == policy.Tell && e.Note == strict.NoteClaimed {
			k.spared++
			w.tell("%d waits for the run of %v", i, e.Peer)
		}
	}
}
