package ballot_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/mutant"
)

var (
	huntGate = flag.String("ballot.gate", "", "the protocols of a hunt, all if empty: lock, tree; always, martin, q, "+
		"d for rings; paced for gates with an operation of their own")
	huntKeep = flag.Bool("ballot.keep", false, "all gates keep their grants")
	huntAll  = flag.Bool("ballot.all", false, "go on after a seed that fails")
	huntShow = flag.Bool("ballot.show", false, "print the trace of the first seed")
)

// draw lets a seed draw every parameter of a world, including which faults there are at all.
func draw(seed uint64) plan {
	d := rand.New(rand.NewPCG(seed, 3))
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(d.Int64N(int64(to-from)+1)) }
	sometimes := func(p float64) bool { return d.Float64() < p }
	p := plan{
		seed: seed, members: []int{3, 3, 3, 5, 5, 2, 4}[d.IntN(7)],
		killAfter: between(50*time.Millisecond, time.Second),
		margin:    between(10*time.Millisecond, 100*time.Millisecond),
		patience:  between(20*time.Millisecond, 100*time.Millisecond), drift: 0.01,
	}
	p.lease = p.killAfter + p.margin + between(6*p.patience, 3*time.Second)
	p.runFor = between(10*time.Millisecond, p.lease)
	p.wantEvery = between(p.lease/4, 4*p.lease)
	p.latency, p.jitter = between(100*time.Microsecond, p.patience/8), between(0, p.patience/4)
	p.faultsFor = 30 * p.lease
	p.saveFor = between(0, 10*time.Millisecond)
	p.pauseFor, p.partFor, p.downFor = p.lease/2, 2*p.lease, p.lease/2
	if sometimes(0.5) {
		p.deaf = d.Float64()
	}
	if sometimes(0.5) {
		p.loss, p.duplicate = 0.3*d.Float64(), 0.3*d.Float64()
	}
	if sometimes(0.5) {
		p.late, p.lateBy = 0.3*d.Float64(), between(p.patience, 2*p.lease)
	}
	if sometimes(0.3) {
		p.slow, p.slowFor = 0.3*d.Float64(), between(p.patience, 2*p.lease)
	}
	if sometimes(0.1) {
		p.saveFails = 0.3
	}
	if sometimes(0.6) {
		p.crashEvery, p.downFor = between(p.lease, 20*p.lease), between(50*time.Millisecond, 2*p.lease)
		p.midStep, p.powerCut = d.Float64()/2, d.Float64()
	}
	if sometimes(0.6) {
		p.pauseEvery, p.pauseFor = between(p.lease, 20*p.lease), between(p.lease/8, 3*p.lease)
		p.asleep, p.midPause = d.Float64(), d.Float64()
	}
	if sometimes(0.6) {
		p.partEvery, p.partFor = between(p.lease, 20*p.lease), between(p.lease/4, 3*p.lease)
		p.oneWay = d.Float64()
	}
	if sometimes(0.2) {
		p.leaveEvery = between(2*p.lease, 30*p.lease)
	}
	p.startsAfter = 100 * time.Millisecond
	if sometimes(0.1) { // Members that forget a handoff while messages of it are still under way.
		p.crashEvery, p.downFor, p.startsAfter, p.powerCut = between(p.lease/8, p.lease), p.patience/8, 0, 1
		p.late, p.lateBy, p.duplicate, p.midStep = 0.3, p.patience, 0.5, 0
		p.wantEvery, p.runFor = p.lease/8, p.patience
	}
	p.drawUnequal()
	return p
}

// bound is how long members may wait that wait when all faults are healed.
func (p *plan) bound() time.Duration {
	bound := 3*p.lease + time.Duration(p.members)*(4*p.runFor+10*p.patience)
	if p.kind == lock {
		return bound
	}
	bound += p.handsBack() + p.soaks()
	bound += time.Duration(p.members) * 10 * p.patience
	if p.kind == paced { // callers and operations
		return p.minInterval + 2*bound
	}
	return bound
}

// handsBack is within which time a host that is back hands its grant back, or has lost it: how long it needs until it
// is well is drawn, and may be long.
func (p *plan) handsBack() time.Duration { return p.keep + p.keep/10 + 8*p.resumeFor }

// drawOf is what a seed draws for a kind of gate.
func drawOf(kind gateKind, seed uint64) plan {
	p := draw(seed)
	if p.kind = kind; kind == paced {
		p.drawPace()
		p.drawOnce()
		p.drawReady()
	}
	if kind != lock {
		p.drawKeep()
		p.drawShape()
		p.drawSoak()
	}
	p.drawForgets()
	return p
}

// live lets a seed's world live: first with faults, then healed, then at rest.
func live(kind gateKind, seed uint64, s shell, log func(string, ...any)) (w *world, waited int64, err error) {
	return liveIn(drawOf(kind, seed), s, log)
}

// liveIn lets a world live. If it has a core, the faults end for that first.
func liveIn(p plan, s shell, log func(string, ...any)) (w *world, waited int64, err error) {
	w = newWorld(p, s)
	w.log = log
	healed := max(int64(w.p.faultsFor), w.p.openFrom)
	if err := w.until(healed); err != nil {
		return w, 0, err
	}
	if w.p.core != 0 {
		if err := w.liveInCore(healed); err != nil {
			return w, 0, err
		}
		healed = w.now
	}
	for !w.check.allServed(healed, everyHost) {
		if w.now > healed+int64(w.p.bound()) {
			return w, 0, fmt.Errorf("liveness: %v after all was healed, some still wait: %v of lease %v; %s",
				w.p.bound(), w.check.waits, w.p.lease,
				w.check.pace.missing(healed, everyHost))
		}
		if err := w.until(w.now + int64(w.p.patience)); err != nil {
			return w, 0, err
		}
	}
	waited = w.now - healed
	if err := w.rests(); err != nil {
		return w, waited, err
	}
	w.quiet = false
	return w, waited, w.stands()
}

// rests checks that a gate at rest is silent: "silence in between". First all that still wait run, its last handoffs
// end, and hosts that are back with their grants hand them back.
func (w *world) rests() error {
	if w.p.kind == always || w.p.kind == paced {
		return nil
	}
	w.quiet, w.lost = true, w.seq
	each := 4 * w.p.runFor
	settle := time.Duration(w.p.members)*each + w.p.soaks() + 40*max(w.p.patience, leastPatience) + w.p.handsBack()
	if err := w.until(w.now + int64(settle)); err != nil {
		return err
	}
	before := w.sends
	if err := w.until(w.now + 2*int64(w.p.lease)); err != nil {
		return err
	}
	if w.sends != before {
		return fmt.Errorf("rest: nobody waits, and %d messages are sent", w.sends-before)
	}
	return nil
}

// leastPatience is the least timeout of a tree's handoffs.
const leastPatience = 250 * time.Millisecond

// A gate also needs a shell that keeps its rules. Each of these shells breaks one of them, and is noticed in the lock,
// in a tree and in a ring, each with its seed. With -mutants.hunt the seed is the first that notices.
func TestBrokenShellsAreCaught(t *testing.T) {
	for _, tc := range []struct {
		what  string
		shell shell
		seeds map[gateKind]uint64
	}{
		{"the agent itself is the guard", shell{agentIsGuard: true}, map[gateKind]uint64{lock: 401, tree: 679, q: 288}},
		{
			"the hook outlives kill -9 of the agent",
			shell{outlives: true},
			map[gateKind]uint64{lock: 65, tree: 10, q: 7},
		},
		{"the clock stops in suspend", shell{clockStops: true}, map[gateKind]uint64{lock: 6, tree: 13, q: 15}},
		{"restart keeps the token", shell{keepsToken: true}, map[gateKind]uint64{lock: 9, tree: 7, q: 7}},
		{
			"the guard releases although no command of its was killed",
			shell{alwaysReleases: true},
			map[gateKind]uint64{lock: 2, tree: 5, q: 7},
		},
		{
			"a host is set back to an older copy of its state",
			shell{setsBack: true},
			map[gateKind]uint64{lock: 1378, tree: 364, q: 252},
		},
	} {
		for kind, seed := range tc.seeds {
			t.Run(tc.what+", "+gateKinds()[kind], func(t *testing.T) {
				seeds := []uint64{seed}
				if mutant.Hunting() {
					seeds = mutant.Seeds(40_000)
				}
				for _, seed := range seeds {
					if _, _, err := live(kind, seed, tc.shell, nil); err != nil {
						t.Logf("seed %d: %v", seed, err)
						return
					}
				}
				t.Errorf("%d seeds do not notice it: make mutants looks for others", len(seeds))
			})
		}
	}
}

// In each of these fleets a site with an old position searched on and on, because it found a former holder each time.
func TestASiteThatSearchesWhileTheTokenGoesRoundIsServed(t *testing.T) {
	keeps := *huntKeep
	t.Cleanup(func() { *huntKeep = keeps })
	*huntKeep = true
	for _, seed := range []uint64{226_043, 247_067, 295_125, 30_061_582} {
		if _, _, err := live(paced, seed, shell{}, nil); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// In this fleet a host whose disk hangs, and which therefore cannot run, kept the token, because its ring did
// not know who waits.
func TestAHostThatCannotRunLetsTheTokenGo(t *testing.T) {
	if _, _, err := liveIn(drawCoreOf(paced, 10_221), shell{}, nil); err != nil {
		t.Error(err)
	}
}

// In this tree three sites passed tokens to each other, and released them for the fourth, which proposed more slowly,
// and always came too late.
func TestWhoGivesUpAnEpochLetsEachOtherRun(t *testing.T) {
	if _, _, err := live(paced, 9915, shell{}, nil); err != nil {
		t.Error(err)
	}
}

// In this ring a host with a shorter lease than the others promised one newer epoch to itself after the other, and
// refused each token: those behind it had no turn.
func TestAHostWithAShorterLeaseLetsTheTokenPass(t *testing.T) {
	if _, _, err := liveIn(drawCoreOf(paced, 615_786), shell{}, nil); err != nil {
		t.Error(err)
	}
}

// In this fleet a caller had given up while its host was cut off. That host's site searched on for ever, because nobody
// waited, so that nobody made a token.
func TestASiteForWhichNobodyWaitsSearchesNotForEver(t *testing.T) {
	if _, _, err := liveIn(drawCoreOf(tree, 13_005_627), shell{}, nil); err != nil {
		t.Error(err)
	}
}

func TestHunt(t *testing.T) {
	for _, name := range gateKinds() {
		if *huntGate == "" || slices.Contains(strings.Split(*huntGate, ","), name) {
			t.Run(name, func(t *testing.T) { hunt(t, gateKindOf(name), mutant.Seeds(300), drawOf) })
			t.Run("core of "+name, func(t *testing.T) { hunt(t, gateKindOf(name), mutant.Seeds(60), drawCoreOf) })
		}
	}
}

// tally is what a hunt has seen.
type tally struct {
	seeds, threes, fives, starts, failures uint64
	// longest is the longest wait after healing, as a part of its bound.
	longest float64
	// failed is the first seed that has failed, with its failure; none if there is none.
	failed uint64
	err    error
	// drawn is how often each piece was drawn.
	drawn map[string]uint64
}

const none = 1<<64 - 1

// hunt lets all seeds live, on all processors. It ends with the first one that fails, unless it is told to go on.
func hunt(t *testing.T, kind gateKind, seeds []uint64, draw func(kind gateKind, seed uint64) plan) {
	t.Helper()
	begun, sum := time.Now(), tally{failed: none, drawn: map[string]uint64{}}
	next := 0
	var mu sync.Mutex
	take := func() (seed uint64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(seeds) {
			return 0, false
		}
		seed = seeds[next]
		next++
		return seed, *huntAll || seed < sum.failed
	}
	done := func(w *world, waited int64, err error) {
		mu.Lock()
		defer mu.Unlock()
		sum.add(w, waited, err)
		if err != nil && *huntAll {
			t.Logf("seed %d: %v", w.p.seed, err)
		}
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed, ok := take(); ok; seed, ok = take() {
				var log func(string, ...any)
				if *huntShow && seed == seeds[0] {
					log = func(f string, a ...any) { fmt.Printf(f+"\n", a...) }
				}
				done(liveIn(draw(kind, seed), shell{}, log))
			}
		})
	}
	workers.Wait()
	if sum.err != nil {
		p := draw(kind, sum.failed)
		less := p.text()
		if mutant.Reduces() {
			less = writeSmaller(p)
		}
		t.Errorf("seed %d: %v\n%s", sum.failed, sum.err, less)
	}
	t.Logf("seeds from %d on: %d, of which %d with three members and %d with five; %d starts, %d failures; at most "+
		"%.0f %% of the bound after healing; %.0f seeds/s",
		seeds[0], sum.seeds, sum.threes, sum.fives, sum.starts, sum.failures, 100*sum.longest,
		float64(sum.seeds)/time.Since(begun).Seconds())
	t.Logf("drawn: %s", sum.parts())
}

func (s *tally) add(w *world, waited int64, err error) {
	s.seeds++
	p := drawOf(w.p.kind, w.p.seed)
	for _, name := range p.pieces() {
		s.drawn[name]++
	}
	s.starts += uint64(w.starts)
	switch w.p.members {
	case 3:
		s.threes++
	case 5:
		s.fives++
	}
	if err == nil {
		s.longest = max(s.longest, float64(waited)/float64(w.p.bound()))
		return
	}
	s.failures++
	if w.p.seed < s.failed {
		s.failed, s.err = w.p.seed, err
	}
}
