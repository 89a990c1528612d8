package ballot_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// unequal is what a seed draws of the differences between hosts, and of events that happen to several hosts at once.
// Each piece has its own dice, so a new one changes nothing in the worlds that do not have it.
type unequal struct {
	// far is how much longer messages from one host to another take; saves is how much longer a host's saves take.
	far   [maxHosts][maxHosts]time.Duration
	saves [maxHosts]time.Duration
	// shorter is the part of runFor that a host's commands take, patient by how much its patience is longer; zero is no
	// difference.
	shorter, patient [maxHosts]float64
	// rolledOut is true while lease and ρ are on their way from host to host: until all faults are healed, a host has
	// others after each start.
	rolledOut bool
	// longer is true if the former leases are longer than the one that all get. Where grants outlive their hosts, that
	// may be new, too.
	longer bool
	// together is the mean time between two stops of several hosts at the same moment. gracefully is true if they
	// leave; all, if it is the whole fleet.
	together        time.Duration
	gracefully, all bool
	// deafEvery is the mean time between two spells in which one host hears no other, or is heard by none if mute.
	deafEvery time.Duration
	mute      bool
	// standsDeaf is true if at the end, when all faults are healed, the host that runs a command hears no other any
	// more, for good.
	standsDeaf bool
}

// maxHosts is how many hosts a world has room for.
const maxHosts = 9

// hostSet has a bit for each host.
type hostSet uint16

const everyHost = ^hostSet(0)

// drawUnequal lets a seed draw these pieces.
func (p *plan) drawUnequal() {
	piece := uint64(0)
	each := func(chance float64, draw func(d *rand.Rand)) {
		piece++
		if d := rand.New(rand.NewPCG(p.seed, 100+piece)); d.Float64() < chance {
			draw(d)
		}
	}
	upTo := func(d *rand.Rand, most time.Duration) time.Duration { return time.Duration(d.Int64N(int64(most) + 1)) }
	each(0.1, func(d *rand.Rand) { p.members = 6 + d.IntN(2) })
	each(0.3, func(d *rand.Rand) {
		for i := range p.far {
			for k := range p.far[i] {
				p.far[i][k] = upTo(d, p.patience/8)
			}
		}
	})
	each(0.3, func(d *rand.Rand) {
		for i := range p.saves {
			p.saves[i] = upTo(d, 2*p.patience)
		}
	})
	each(0.3, func(d *rand.Rand) {
		for i := range p.shorter {
			p.shorter[i] = 0.05 + 0.95*d.Float64()
		}
	})
	each(0.2, func(d *rand.Rand) {
		for i := range p.patient {
			p.patient[i] = d.Float64()
		}
	})
	each(0.3, func(d *rand.Rand) {
		p.together, p.gracefully, p.all = p.lease+upTo(d, 10*p.lease), d.IntN(2) > 0, d.IntN(2) > 0
	})
	each(0.3, func(d *rand.Rand) { p.deafEvery, p.mute = p.lease+upTo(d, 10*p.lease), d.IntN(4) == 0 })
	each(0.3, func(*rand.Rand) { p.standsDeaf = true })
	each(0.15, func(d *rand.Rand) { p.members = 8 + d.IntN(2) })
	each(0.2, func(*rand.Rand) { p.rolledOut, p.lease = true, p.lease+p.lease/8 })
	each(0.5, func(*rand.Rand) { p.longer = p.rolledOut })
}

// pieces are the names of what a plan has, in the order of the report.
func (p *plan) pieces() (names []string) {
	for _, piece := range []struct {
		name string
		has  bool
	}{
		{"six or seven members", p.members == 6 || p.members == 7},
		{"eight or nine members", p.members > 7},
		{"unequal links", p.far != [maxHosts][maxHosts]time.Duration{}},
		{"unequal disks", p.unequal.saves != [maxHosts]time.Duration{}},
		{"unequal commands", p.shorter != [maxHosts]float64{}},
		{"unequal patience", p.patient != [maxHosts]float64{}},
		{"several stop at once", p.together > 0 && !p.all},
		{"all stop at once, and start", p.together > 0 && p.all},
		{"a host hears nobody for a while", p.deafEvery > 0 && !p.mute},
		{"nobody hears a host for a while", p.deafEvery > 0 && p.mute},
		{"the holder hears nobody any more", p.standsDeaf && p.members > 2},
		{"lost and repeated messages", p.loss > 0},
		{"late messages", p.late > 0},
		{"slow disks", p.slow > 0},
		{"failing disks", p.saveFails > 0},
		{"crashes", p.crashEvery > 0},
		{"pauses and suspensions", p.pauseEvery > 0},
		{"parted networks", p.partEvery > 0},
		{"leaves", p.leaveEvery > 0},
		{"commands that ignore SIGTERM", p.deaf > 0},
		{"grants that outlive their hosts", p.keep > 0},
		{"a limit of hosts that are down", p.maxDown > 0},
		{"hosts that soak", p.soak > 0},
		{"one run in an interval for all", p.once},
		{"operators who end an interval", p.resumeEvery > 0},
		{"hosts that lose what they have saved", p.forgets > 0},
		{"hosts that need no run at times", p.readyFor > 0},
		{"a lease and a ρ for each start of a host", p.rolledOut && !p.longer},
		{"a lease that becomes shorter from host to host", p.longer},
	} {
		if piece.has {
			names = append(names, piece.name)
		}
	}
	return names
}

// allPieces are all names.
func allPieces() []string {
	one := [maxHosts]float64{1}
	p := plan{
		members: 7, loss: 1, late: 1, slow: 1, saveFails: 1, crashEvery: 1, pauseEvery: 1, partEvery: 1, leaveEvery: 1,
		deaf: 1,
		unequal: unequal{
			far: [maxHosts][maxHosts]time.Duration{{1}}, saves: [maxHosts]time.Duration{1}, shorter: one, patient: one,
			together: 1, deafEvery: 1,
			standsDeaf: true, rolledOut: true,
		},
		keepPlan: keepPlan{keep: 1}, shapePlan: shapePlan{maxDown: 1, readyFor: 1}, soakPlan: soakPlan{soak: 1},
		oncePlan: oncePlan{once: true, resumeEvery: 1}, forgetPlan: forgetPlan{forgets: 1},
	}
	q := plan{members: 9, unequal: unequal{
		together: 1, all: true, deafEvery: 1, mute: true, rolledOut: true, longer: true,
	}}
	return append(p.pieces(), q.pieces()...)
}

// Every fault and every difference is drawn at least once in fifty seeds.
func TestEachPieceIsDrawnInFiftySeeds(t *testing.T) {
	for first := uint64(1); first < 1000; first += 50 {
		drawn := map[string]int{}
		for seed := first; seed < first+50; seed++ {
			p := draw(seed)
			p.drawKeep()
			p.drawShape()
			p.drawSoak()
			p.drawOnce()
			p.drawReady()
			p.drawForgets()
			for _, name := range p.pieces() {
				drawn[name]++
			}
		}
		for _, name := range allPieces() {
			if drawn[name] == 0 {
				t.Errorf("seeds %d to %d never have %s", first, first+49, name)
			}
		}
	}
}

// parts tells how often each piece was drawn.
func (s *tally) parts() string {
	var list []string
	for _, name := range allPieces() {
		list = append(list, fmt.Sprintf("%s %.0f %%", name, 100*float64(s.drawn[name])/float64(max(s.seeds, 1))))
	}
	return strings.Join(list, ", ")
}

// onTogether stops several hosts at one moment, or the whole fleet.
func (w *world) onTogether() {
	if w.calm {
		return
	}
	dice := rand.New(rand.NewPCG(w.p.seed, uint64(w.now)))
	w.tell("several stop at once, all: %v, gracefully: %v", w.p.all, w.p.gracefully)
	host := dice.IntN(2) > 0
	for i := range w.hosts {
		h := &w.hosts[i]
		if !h.up || !w.p.all && dice.IntN(2) > 0 {
			continue
		}
		if w.p.gracefully && !h.away {
			w.leave(i)
		} else {
			w.crash(i, host)
		}
	}
	w.after(w.around(w.p.together), evTogether, 0, 0)
}

// onDeaf lets one host hear no other, or be heard by none, until the network is healed.
func (w *world) onDeaf() {
	if w.calm {
		return
	}
	dice := rand.New(rand.NewPCG(w.p.seed, uint64(w.now)))
	i := dice.IntN(w.p.members)
	if w.p.mute {
		w.tell("nobody hears %d", i)
		w.apart[i] = everyHost
	} else {
		w.deafen(i)
	}
	w.look()
	w.after(w.around(w.p.partFor), evHeal, 0, 0)
	w.after(w.around(w.p.deafEvery), evDeaf, 0, 0)
}

// deafen lets a host hear no other.
func (w *world) deafen(i int) {
	w.tell("%d hears nobody", i)
	for k := range w.hosts {
		if k != i {
			w.apart[k] |= 1 << i
		}
	}
}

// stands judges a fault that lasts: a host that runs a command hears no other any more. It cannot keep the others
// waiting for more than a lease from its first unanswered renewal; the rest is the time that a healthy gate takes.
func (w *world) stands() error {
	if !w.p.standsDeaf || w.p.members < 3 || w.p.kind == paced {
		return nil
	}
	runner := func() int {
		for i := range w.hosts {
			if r := &w.hosts[i].run; r.active && r.token.Seq != 0 {
				return i
			}
		}
		return -1
	}
	w.wantAll()
	for end := w.now + int64(w.p.bound()); runner() < 0; {
		if w.now > end {
			return fmt.Errorf("stands: nobody runs although all is healed")
		}
		if slices.Max(w.check.waits) == 0 { // All have run, too briefly to be seen.
			w.wantAll()
		}
		if err := w.until(w.now + ms/10); err != nil {
			return err
		}
	}
	deaf := runner()
	w.deafen(deaf)
	w.look()
	since := w.now
	w.wantAll()
	for {
		waits := -1
		for k := range w.hosts {
			if k != deaf && w.check.waits[k] != 0 {
				waits = k
			}
		}
		switch {
		case waits < 0:
			return nil
		case w.now > since+int64(w.p.standing()):
			return fmt.Errorf("stands: %v after %d has gone deaf, %d still waits; the lease is %v", w.p.standing(),
				deaf, waits, w.p.lease)
		}
		if err := w.until(w.now + int64(w.p.patience)); err != nil {
			return err
		}
	}
}

// standing is how long the others may wait when a holder has gone deaf: two leases, of which one is that of its first
// unanswered renewal, a third is the time until that renewal begins, and the rest are the proposers' pauses.
func (p *plan) standing() time.Duration { return p.bound() - p.lease }

func (w *world) wantAll() {
	for i := range w.hosts {
		w.at(w.now, evWant, i, w.hosts[i].life)
	}
}
