package ballot_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"time"
)

// corePlan is what a seed draws of a core: a majority for which alone all faults end, while the other hosts keep
// theirs. Its members must have their turns all the same.
type corePlan struct {
	// core has a bit for each host that is in it; zero means that the faults end for all.
	core hostSet
	// stays is what is wrong with the other hosts.
	stays [maxHosts]stay
}

// stay is what is wrong with a host outside of a core.
type stay uint8

const (
	staysAsItIs stay = iota // down, away, or quite well
	staysDown
	staysDeaf
	staysMute
	staysAway
	staysAsleep
	staysStuck // its saves do not end
	staysApart // it hears none of the core, and none of them hears it
	staysEnd
)

// drawCore draws a core, if there can be a majority without all. A grant that outlives its host is saved there before
// it is given back, so a disk that hangs keeps it for as long.
func (p *plan) drawCore() {
	d := rand.New(rand.NewPCG(p.seed, 300))
	majority := p.members/2 + 1
	if majority == p.members {
		return
	}
	p.maxDown = 0 // What is outside would keep all others waiting.
	for _, i := range d.Perm(p.members)[:majority+d.IntN(p.members-majority)] {
		p.core |= 1 << i
	}
	same, all := d.IntN(2) > 0, stay(d.IntN(int(staysEnd)))
	for i := range p.stays {
		if p.stays[i] = all; !same {
			p.stays[i] = stay(d.IntN(int(staysEnd)))
		}
		if p.keep > 0 && p.stays[i] == staysStuck {
			p.stays[i] = staysDown
		}
	}
}

// healed are the hosts for which the faults end.
func (p *plan) healed() hostSet {
	if p.core == 0 {
		return everyHost
	}
	return p.core
}

// staysOut reports whether something is wrong with a host although the faults have ended for a core.
func (w *world) staysOut(i int) bool { return w.calm && w.p.healed()&(1<<i) == 0 }

// stay begins what is wrong with a host outside of the core.
func (w *world) stay(i int) {
	h := &w.hosts[i]
	switch w.p.stays[i] {
	case staysDown:
		if h.up {
			w.crash(i, true)
		}
	case staysDeaf:
		w.deafen(i)
	case staysMute:
		w.tell("nobody hears %d", i)
		w.apart[i] = everyHost
	case staysAway, staysAsleep:
		if h.up && !h.away {
			w.pause(i, w.p.stays[i] == staysAsleep)
		}
	case staysApart:
		w.deafen(i)
		w.apart[i] = everyHost
	case staysAsItIs, staysStuck, staysEnd:
	}
	if h.away {
		h.backAt = never
	}
}

// never is a true time that does not come.
const never = int64(1) << 62

// liveInCore lets time pass until all members of the core have had their turns, and then ends the faults of the others.
func (w *world) liveInCore(healed int64) error {
	bound := w.p.coreBound()
	for !w.check.allServed(healed, w.p.core) {
		if w.now > healed+int64(bound) {
			return fmt.Errorf("core: the faults have ended %v ago for %d of %d, and some of them still wait: %s", bound,
				bits.OnesCount16(uint16(w.p.core)), w.p.members, w.whoWaits(healed))
		}
		if err := w.until(w.now + int64(w.p.patience)); err != nil {
			return err
		}
	}
	w.p.core = 0
	w.heal()
	return nil
}

// coreBound is how long a healed core may need.
func (p *plan) coreBound() time.Duration { return 2 * p.bound() }

// drawCoreOf is drawOf for a world in which the faults end for a core first.
func drawCoreOf(kind gateKind, seed uint64) plan {
	p := drawOf(kind, seed)
	p.drawCore()
	return p
}

// whoWaits describes the hosts of a world with a core.
func (w *world) whoWaits(healed int64) string {
	var text strings.Builder
	for i := range w.hosts {
		switch since := w.check.waits[i]; {
		case w.p.core&(1<<i) == 0:
			fmt.Fprintf(&text, "%d is outside and %s, ", i, [staysEnd]string{
				"as it was", "down", "deaf", "mute", "away", "asleep", "stuck", "apart",
			}[w.p.stays[i]])
		case since != 0:
			fmt.Fprintf(&text, "%d waits since %.3f, ", i, float64(since)/1e9)
		}
	}
	return text.String() + w.check.pace.missing(healed, w.p.core)
}
