package ballot_test

import (
	"math/rand/v2"
	"time"
)

// keepPlan is what a seed draws of grants that outlive their hosts: all runs of a gate are under such grants. Some
// reboot their hosts.
type keepPlan struct {
	keep time.Duration
	// reboots is the share of runs that reboot their host; resumeFor is how long a host that is back needs to be well.
	reboots   float64
	resumeFor time.Duration
}

// drawKeep draws grants that outlive their hosts for one fleet in six; for all, if a hunt is about them.
func (p *plan) drawKeep() {
	d := rand.New(rand.NewPCG(p.seed, 200))
	if d.Float64() > 1.0/6 && !*huntKeep {
		return
	}
	p.keep = p.lease + time.Duration(d.Int64N(int64(8*p.lease)))
	p.reboots, p.resumeFor = d.Float64(), time.Duration(d.Int64N(int64(p.lease)))
	if d.IntN(2) > 0 {
		p.downFor = p.keep/4 + time.Duration(d.Int64N(int64(2*p.keep)))
	}
}

// reboots lets the command of a host reboot it.
func (w *world) reboots(i int) {
	if w.keepOf(i) == 0 || w.calm || !w.happens(w.p.reboots) {
		return
	}
	w.after(w.around(w.p.runFor)/2, evReboot, i, w.hosts[i].run.number)
}

// takeUp is what a shell does that finds a kept grant of its own: the host needs a while until it is well. A guard of
// before is dead by then.
func (w *world) takeUp(i int) {
	h := &w.hosts[i]
	kept := &h.disk.Kept
	if w.p.keep == 0 || kept.Holder != w.roster.ID(i) {
		return
	}
	w.tell("%d takes up its grant %s", i, seqName(kept.Token.Seq))
	ran := h.run.token.Seq == kept.Token.Seq+1 || h.run.resumed && h.run.token.Seq == kept.Token.Seq
	h.run = run{
		active: true, resumed: true, number: h.run.number + 1, token: kept.Token, words: h.run.words[:0],
		said: h.run.said, fence: h.fence, endAt: w.now + 1 + w.around(w.p.resumeFor+1),
	}
	if !ran {
		h.run.token.Seq = 0 // The host went down before the operation began.
	}
	w.at(h.run.endAt, evGuard, i, h.run.number)
}

// saved: a grant that outlives its host is on the disk of that host before anything runs under it.
func (c *checker) saved(i int) {
	h := &c.w.hosts[i]
	k := &h.disk.Kept
	if c.w.keepOf(i) > 0 && (k.Holder != c.w.roster.ID(i) || k.Token.Seq+1 != h.run.token.Seq) {
		c.w.fail("kept: %d runs under %s, and has saved %s", i, seqName(h.run.token.Seq), seqName(k.Token.Seq))
	}
}

// lost: a host that is back in time still has its grant, unless others have lost what they had saved of it.
func (c *checker) lost(i int) {
	if c.w.hosts[i].run.resumed && c.w.now < c.keptUntil[i] && c.w.p.forgets == 0 {
		c.w.fail("kept: %d has lost its grant, which is kept until %.6f", i, float64(c.keptUntil[i])/1e9)
	}
}

// keeps records that a grant outlives its host, which has crashed, or a host that is back and crashes again.
func (c *checker) keeps(i int) {
	r := &c.w.hosts[i].run
	if c.w.keepOf(i) == 0 && !r.resumed || !c.counted[i] || !r.active || r.until == 0 {
		return
	}
	c.keptUntil[i] = max(c.keptUntil[i], c.w.trueAt(i, r.until))
	c.w.tell("the grant of %d is kept until %.6f", i, float64(c.keptUntil[i])/1e9)
	c.w.at(c.keptUntil[i], evKeptOver, i, 0)
}

// extended records that a host that is back has renewed its grant.
func (c *checker) extended(i int) {
	if c.w.hosts[i].run.resumed && c.keptUntil[i] != 0 {
		c.keeps(i)
	}
}

// handedBack ends the grant of a host that is back.
func (c *checker) handedBack(i int) { c.keptUntil[i] = 0 }

// keptOver ends a grant whose host has stayed away for too long.
func (c *checker) keptOver(i int) {
	if c.keptUntil[i] != 0 && c.w.now >= c.keptUntil[i] {
		c.keptUntil[i] = 0
		c.stopped(i)
	}
}
