package ballot_test

import (
	"flag"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/policy/strict"
)

// A guided hunt keeps the worlds in which one rare branch of a member followed another for the first time, and makes
// three of four worlds out of these: with another value, with parts of another world, or with other random choices from
// about the moment on at which something new happened.

var huntGuided = flag.Uint64("ballot.guided", 0, "how many worlds of each kind a guided hunt has; -first begins it")

// guide makes the worlds of one guided hunt.
type guide struct {
	kind  gateKind
	draw  func(kind gateKind, seed uint64) plan
	dice  *rand.Rand
	first uint64
	known marks.Set
	// often is how many worlds have reached each pair.
	often [1 << 16]uint32
	kept  []keptPlan
}

// keptPlan is a world that has reached something new, when it did last, and its pairs.
type keptPlan struct {
	plan
	at    time.Duration
	pairs []uint16
}

// freshShare is the share of the worlds that are drawn, and not made out of others.
const freshShare = 0.25

// next makes the next world.
func (g *guide) next(number uint64) plan {
	if len(g.kept) == 0 || g.dice.Float64() < freshShare {
		return g.draw(g.kind, g.first+number)
	}
	of, other := g.pick(), g.draw(g.kind, g.dice.Uint64()>>1)
	if g.dice.IntN(2) == 0 {
		other = g.pick().plan
	}
	for range 16 {
		p := of.plan
		for more := true; more; more = g.dice.IntN(3) == 0 {
			g.change(&p, &other, of.at)
		}
		if p.isFit() && p.isWhole() {
			return p
		}
	}
	p := of.plan
	p.seed = g.dice.Uint64() >> 1
	return p
}

// pick draws a kept world: the rarer its pairs, the likelier.
func (g *guide) pick() *keptPlan {
	score := func(k *keptPlan) (sum float64) {
		for _, pair := range k.pairs {
			sum += 1 / float64(g.often[pair])
		}
		return sum
	}
	best := &g.kept[g.dice.IntN(len(g.kept))]
	for range 3 {
		if k := &g.kept[g.dice.IntN(len(g.kept))]; score(k) > score(best) {
			best = k
		}
	}
	return best
}

// change makes one change. What a plan must not have from another one stays: sizes, and what the rules know of clocks.
func (g *guide) change(p, other *plan, at time.Duration) {
	switch share := g.dice.Float64(); {
	case share < 0.4 && at > 0:
		p.reseedAt, p.reseed = max(time.Duration(g.dice.Float64()*1.2*float64(at)), 1), g.dice.Uint64()>>1
		return
	case share < 0.5:
		p.seed = g.dice.Uint64() >> 1
		return
	case share < 0.6: // A part as a whole.
		parts := [][2]any{
			{&p.keepPlan, other.keepPlan},
			{&p.shapePlan, other.shapePlan},
			{&p.soakPlan, other.soakPlan},
			{&p.oncePlan, other.oncePlan},
			{&p.forgetPlan, other.forgetPlan},
		}
		part := parts[g.dice.IntN(len(parts))]
		reflect.ValueOf(part[0]).Elem().Set(reflect.ValueOf(part[1]))
		return
	}
	mine, theirs := p.leaves(), other.leaves()
	i := g.dice.IntN(len(mine))
	v := mine[i].Value
	switch fixed := slices.Contains(strings.Fields(fixedLeaves), mine[i].name); {
	case fixed:
	case g.dice.IntN(2) == 0:
		v.Set(theirs[i].Value)
	case v.Kind() == reflect.Float64:
		v.SetFloat(min(v.Float()*(0.25+2*g.dice.Float64()), 1))
	case v.Type() == reflect.TypeFor[time.Duration]():
		v.SetInt(int64(float64(v.Int()) * (0.25 + 2*g.dice.Float64())))
	}
}

// fixedLeaves are the parameters that belong to a whole plan.
const fixedLeaves = "kind moves members seed core stays drift far saves patient shorter wallAhead openFrom rolledOut " +
	"longer reseedAt reseed runFor"

// isWhole reports whether the parts of a plan fit each other, and nothing lasts longer than it does where a seed draws
// it.
func (p *plan) isWhole() bool {
	stuck := p.core != 0 && p.keep > 0 && slices.Contains(p.stays[:], staysStuck)
	spells := max(p.pauseFor, p.partFor) <= 3*p.lease && p.downFor <= max(2*p.lease, 9*p.keep/4)
	late := max(p.lateBy, p.slowFor) <= 2*p.lease && p.saveFor <= 10*time.Millisecond
	shares := max(p.loss, p.late, p.slow, p.saveFails) <= 0.3 && p.duplicate <= 0.5 && p.forgets <= 0.45
	deaf := p.standsDeaf && (p.maxDown > 0 || p.soak > 0)
	kept := p.keep == 0 || p.keep >= p.lease && p.keep <= 9*p.lease && p.resumeFor <= p.lease
	soaks := p.soak <= 7*p.lease && (p.minInterval == 0 || p.minInterval >= time.Duration(p.members)*p.soak)
	once := !p.once && p.resumeEvery == 0 || p.kind == paced && p.minInterval >= 6*p.lease && p.ahead <= 4*p.lease &&
		(p.resumeEvery == 0 || p.resumeEvery >= p.minInterval/4)
	ready := p.readyFor == 0 || p.kind == paced && p.readyFor >= p.lease/8 && p.needed >= 0.1
	forgets := p.forgets == 0 || !p.once && !p.rolledOut
	return !stuck && spells && late && shares && !deaf && kept && soaks && once && ready && forgets &&
		(p.core == 0 || p.maxDown == 0) && p.faultsFor <= 60*p.lease && p.runFor <= p.lease && p.wantEvery <= 4*p.lease
}

// hunt lets the first worlds live, and returns one that breaks a rule, if there is one. lived is how many have lived
// then: as many find it again.
func (g *guide) hunt(worlds uint64) (failed *plan, lived uint64, err error) {
	for lived < worlds {
		p := g.next(lived)
		lived++
		reached := marks.Beside(&g.known)
		w, _, err := liveIn(p, shell{marks: reached}, nil)
		if err != nil {
			return &p, lived, err
		}
		fresh, pairs := g.known.Add(reached) > 0, slices.Collect(reached.Each)
		for _, pair := range pairs {
			g.often[pair]++
		}
		if fresh {
			g.kept = append(g.kept, keptPlan{p, time.Duration(w.freshAt), pairs})
		}
	}
	return nil, lived, nil
}

// Guided hunts look for what drawn ones do not reach.
func TestGuidedHunt(t *testing.T) {
	worlds := *huntGuided
	if worlds == 0 {
		worlds = deep.Of[uint64](20, 100, 100)
	}
	var all marks.Set
	var lived uint64
	var mu sync.Mutex
	t.Run("all", func(t *testing.T) {
		for _, name := range gateKinds() {
			if *huntGate != "" && !slices.Contains(strings.Split(*huntGate, ","), name) || gateKindOf(name) == lock {
				continue
			}
			for of, draw := range map[string]func(gateKind, uint64) plan{"": drawOf, "core of ": drawCoreOf} {
				t.Run(of+name, func(t *testing.T) {
					t.Parallel()
					first := mutant.Seeds(1)[0]
					dice := rand.New(rand.NewPCG(first, 301))
					g := guide{kind: gateKindOf(name), draw: draw, first: first, dice: dice}
					begun := time.Now()
					p, number, err := g.hunt(worlds)
					if err != nil {
						less := p.text()
						if mutant.Reduces() {
							less = writeSmaller(*p)
						}
						t.Errorf("seed %d: world %d of the guided hunt: %v\n%s", first, number, err, less)
					}
					t.Logf("%d worlds, of which %d are kept, with %d pairs of marks; %.0f a second", number,
						len(g.kept), g.known.Pairs(), float64(number)/time.Since(begun).Seconds())
					mu.Lock()
					defer mu.Unlock()
					all.Add(&g.known)
					lived += number
				})
			}
		}
	})
	never := strict.Marks().Never(&all)
	t.Logf("seeds from %d on: %d, guided, with %d pairs of marks; never reached:\n%s", mutant.Seeds(1)[0], lived,
		all.Pairs(), strings.Join(never, "\n"))
}
