package ballot_test

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// checker sees all members after each step. It judges by true time.
type checker struct {
	w *world
	// running are the hosts on which a command runs.
	running int
	// newest is the highest number of a start.
	newest wire.Seq
	// leases are what the supporters have promised, in true time; those of a dead member still stand.
	leases []given
	// firm are the last leases of each member for promises that are on its disk: nobody was told of others. forgotten
	// are those from before its present life, of which lives has the number.
	firm, forgotten []given
	lives           []int32
	// holdsUntil is when the time of a holder ends, in true time, and holds its token; zero if it holds none.
	holdsUntil []int64
	holds      []wire.Seq
	// told is the highest promise of which any member was told.
	told []ballot.Epoch
	// waits is since when a member waits for a run; longest is the longest wait since all faults were healed.
	waits []int64
	pace  pacing
	once  intervals
	soak  soakings
	// keptUntil is until when a grant outlives its host, in true time; zero if it does not.
	keptUntil []int64
	// counted is true for a member whose command counts among running.
	counted []bool
	// steps counts the steps of all members, facts are what one of them has told last.
	steps int
	facts []policy.Fact
}

type given struct {
	epoch ballot.Epoch
	end   int64
}

// slack is what rounding may cost.
const slack = 10_000

func (c *checker) init(w *world) {
	n := len(w.hosts)
	*c = checker{
		w: w, leases: make([]given, n), firm: make([]given, n), forgotten: make([]given, n), lives: make([]int32, n),
		holdsUntil: make([]int64, n), holds: make([]wire.Seq, n), told: make([]ballot.Epoch, n),
		waits: make([]int64, n), counted: make([]bool, n), keptUntil: make([]int64, n),
		soak: make(soakings, n),
	}
	c.pace.init(w)
}

// started: "Seq strictly rising at every start", and never two commands at once.
func (c *checker) started(i int) {
	seq := c.w.hosts[i].run.token.Seq
	c.w.tell("%d runs under %s", i, seqName(seq))
	if seq <= c.newest && c.w.p.forgets == 0 {
		c.w.fail("seq: %d starts under %s after %s", i, seqName(seq), seqName(c.newest))
	}
	c.newest = max(c.newest, seq)
	c.saved(i)
	c.tooManyDown(i)
	c.notNeeded(i)
	c.soak.started(c.w, i)
	c.once.started(c.w, i)
	if c.w.p.kind != paced || c.w.hosts[i].run.demanded {
		c.served(i)
	}
	c.resumed(i)
}

// resumed: "overlap of running commands (not of beliefs)".
func (c *checker) resumed(i int) {
	c.counted[i] = true
	c.running++
	if c.running > 1 {
		for k := range c.counted {
			if c.counted[k] && k != i {
				c.w.fail("overlap: commands run on %d under %s and on %d under %s", i,
					seqName(c.w.hosts[i].run.token.Seq), k,
					seqName(c.w.hosts[k].run.token.Seq))
			}
		}
	}
}

func (c *checker) stopped(i int) {
	if c.counted[i] && c.w.now >= c.keptUntil[i] {
		c.w.tell("%d runs nothing", i)
		c.counted[i] = false
		c.running--
	}
}

func (c *checker) crashed(i int) {
	c.soak.crashed(i)
	c.holds[i], c.holdsUntil[i], c.waits[i] = 0, 0, 0
}

func (c *checker) wanted(i int) {
	if c.waits[i] == 0 {
		c.waits[i] = c.w.now
	}
}

func (c *checker) served(i int) { c.waits[i] = 0 }

func (c *checker) stepped(i int) {
	w := c.w
	g := w.hosts[i].g
	if c.steps++; c.steps%64 == 0 && w.p.kind != lock {
		c.tells(i)
	}
	promised, end := g.Ballot().Lease()
	c.leases[i] = c.leaseNow(i, promised, w.trueAt(i, end))
	// "promised never falls": it is not below any promise of which a member was told.
	if promised < c.told[i] {
		w.fail("promise: %d has promised %v, and was told to have promised %v", i, promised, c.told[i])
	}
	for n := range w.out {
		if k := w.out[n].Msg.Kind; k == ballot.KindPromised || k == ballot.KindRenewed {
			c.told[i] = max(c.told[i], promised)
		}
	}
	c.holds[i], c.holdsUntil[i] = 0, 0
	if t := g.Ballot().Token(); t != nil {
		c.holds[i], c.holdsUntil[i] = t.Seq, w.trueAt(i, g.Ballot().Until())
		// "one holder per epoch"
		for k, seq := range c.holds {
			if k != i && seq != 0 && ballot.EpochOf(seq) == ballot.EpochOf(t.Seq) {
				w.fail("holders: %d and %d hold %s and %s", i, k, seqName(t.Seq), seqName(seq))
			}
		}
	}
	// "D never beyond a supporter's end in true time"
	for k, until := range c.holdsUntil {
		if until <= w.now+slack {
			continue
		}
		e, supporters := ballot.EpochOf(c.holds[k]), 0
		for _, l := range c.leases {
			if l.epoch == e && l.end >= until-slack {
				supporters++
			}
		}
		if supporters <= len(c.leases)/2 {
			w.fail("lease: %d may run under %s until %.6f, with %d supporters of %d", k, seqName(c.holds[k]),
				float64(until)/1e9, supporters,
				len(c.leases))
		}
	}
}

// leaseNow is a member's lease. A lease that a restarted member does not remember still counts during its quarantine,
// also if that member has heard a late renewal for a shorter time since.
func (c *checker) leaseNow(i int, promised ballot.Epoch, end int64) given {
	h := &c.w.hosts[i]
	if c.lives[i] != h.life {
		c.lives[i], c.forgotten[i] = h.life, c.firm[i]
	}
	l, before, quarantine := given{promised, end}, c.forgotten[i], c.w.trueAt(i, h.g.Ballot().Quarantined())
	switch {
	case before.epoch == promised:
		l.end = max(end, min(before.end, quarantine))
	case promised < before.epoch && c.w.now < quarantine: // It has lost its promise.
		l = given{before.epoch, min(before.end, quarantine)}
	}
	if promised == c.w.durable(i) {
		c.firm[i] = l
	}
	return l
}

// durable is the promise that is on a host's disk.
func (w *world) durable(i int) ballot.Epoch {
	disk := &w.hosts[i].disk
	e := ballot.Epoch(binary.BigEndian.Uint64(disk.Memo[:8]))
	if disk.Kept.Holder == w.roster.ID(i) {
		e = max(e, ballot.EpochOf(disk.Kept.Token.Seq))
	}
	return e
}

// allServed reports whether none of those members waits for a run any more, and their operations have run since all
// faults were healed. Where hosts soak, a lap takes so long that somebody comes again before it is over.
func (c *checker) allServed(healed int64, of hostSet) bool {
	if c.w.p.kind == paced && c.pace.missing(healed, of) != "" {
		return false
	}
	for i, since := range c.waits {
		if late := c.w.p.soak > 0 && since > healed; since != 0 && !late && of&(1<<i) != 0 {
			return false
		}
	}
	return true
}
