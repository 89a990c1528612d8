package ballot_test

import (
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/wire"
)

// oncePlan is what a seed draws of a gate that runs once for its whole roster.
type oncePlan struct {
	once bool
	// resumeEvery is the mean time between two words of an operator that end what is left of an interval; zero: there
	// are none.
	resumeEvery time.Duration
	// ahead is by how much the operator's clock is ahead.
	ahead time.Duration
}

// drawOnce lets one in five fleets that have an operation run it once in each interval, which is then long enough for a
// few tries. Its members always have their operations due by the end of it.
func (p *plan) drawOnce() {
	if d := rand.New(rand.NewPCG(p.seed, 259)); d.Float64() < 0.2 {
		p.once = true
		p.minInterval = max(p.minInterval, 6*p.lease)
		if d.Float64() < 0.5 {
			p.resumeEvery = time.Duration((0.3 + 2*d.Float64()) * float64(p.minInterval))
			if d.Float64() < 0.4 {
				p.ahead = time.Duration(4 * d.Float64() * float64(p.lease))
			}
		}
	}
}

// onResumed lets an operator resume the gate: each host hears of it within a while, and one that is down when it is
// back.
func (w *world) onResumed() {
	if w.calm {
		return
	}
	w.tell("an operator resumes the gate")
	w.check.once.resumes(w)
	for i := range w.hosts {
		w.after(w.around(w.p.patience), evDirected, i, 0)
	}
	w.after(w.around(w.p.resumeEvery), evResumed, 0, 0)
}

// newest is the last word of an operator.
func (w *world) newest() wire.Directive {
	if w.check.once.stamp == 0 {
		return wire.Directive{}
	}
	return wire.Directive{Stamp: uint64(w.check.once.stamp), By: w.roster.ID(0)}
}

// onDirected brings the last word of an operator to a host, which saves it, as it does through a [directive.Layer].
func (w *world) onDirected(i int) {
	h := &w.hosts[i]
	switch {
	case !h.up || h.directed == w.newest():
		return
	case h.away:
		h.held = append(h.held, event{kind: evDirected, who: int8(i)})
		return
	}
	h.directed = w.newest()
	w.ev.Kind, w.ev.Directive = policy.Directed, h.directed
	w.check.once.knows |= 1 << i
	w.step(i)
	w.ev.Directive = wire.Directive{}
	if h.up {
		h.state.Directive = h.directed
		w.save(i, &h.state)
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
	// resumedAt is when an operator has resumed the gate last, in true time, stamp is that in milliseconds of Unix
	// time, and knows are the hosts that have heard of it.
	resumedAt, stamp int64
	knows            hostSet
	// runs are how many runs there were, and spared how many a claim has put off.
	runs, spared int
}

// resumes notes that an operator resumes the gate: claims from before are void.
func (k *intervals) resumes(w *world) {
	k.last.is, k.knows = false, 0
	k.resumedAt, k.stamp = w.now, (w.instant(0).Wall+int64(w.p.ahead))/ms
}

// started checks a run of a member's own operation. A member has asked for the interval up to two leases before it
// runs, and clocks differ. If an operator has resumed the gate meanwhile, the run counts for nobody.
func (k *intervals) started(w *world, i int) {
	if !w.p.once || w.hosts[i].run.demanded {
		return
	}
	k.runs++
	least := int64(float64(w.p.minInterval)*(1-2*w.p.drift)) - 2*int64(w.p.longest())
	if since := w.now - k.last.began; k.last.is && since < least {
		w.fail("once: %d runs %v after a run of %d that has not failed, and once in %v is enough", i,
			time.Duration(since), k.last.of, w.p.minInterval)
	}
	late := k.resumedAt != 0 && w.now-k.resumedAt < 2*int64(w.p.longest())
	k.last = claimed{of: i, began: w.now, is: !late}
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
			k.void(w, i, e.Peer)
		}
	}
}

// void checks that nobody waits for long for a claim which was made before an operator has resumed the gate, once it
// has heard of that: others may have answered before they did. It asks them again once it is as long after that word
// again.
func (k *intervals) void(w *world, i int, by wire.MemberID) {
	if k.resumedAt == 0 || k.knows&(1<<i) == 0 || w.p.windows != nil {
		return
	}
	for n := range w.hosts {
		if h := &w.hosts[n]; h.g != nil {
			c := h.g.Ballot().Claim()
			if c.By == by && w.trueAt(n, c.Until.Add(-c.For)) >= k.resumedAt-ms {
				return
			}
		}
	}
	now := w.local(i)
	longest := 2 * max(w.p.patienceOf(i), time.Duration(w.now-k.resumedAt))
	if due := w.hosts[i].g.Status(now).NextRun; due > now.Add(longest) {
		w.fail("once: %d waits %v more for a run of %v, and an operator has resumed the gate %v ago", i,
			due.Sub(now), by, time.Duration(w.now-k.resumedAt))
	}
}
