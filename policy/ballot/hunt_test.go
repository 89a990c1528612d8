package ballot_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	huntFrom  = flag.Uint64("ballot.seed", 1, "the first seed of a hunt")
	huntSeeds = flag.Uint64("ballot.seeds", 300, "how many seeds a hunt has")
	huntGate  = flag.String("ballot.gate", "", "the only protocol of a hunt: lock, tree, or always, martin, q, d for rings")
	huntShow  = flag.Bool("ballot.show", false, "tell the story of the first seed")
)

// draw lets a seed draw every parameter of a world, also which faults there are at all.
func draw(seed uint64) plan {
	d := rand.New(rand.NewPCG(seed, 3))
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(d.Int64N(int64(to-from)+1)) }
	sometimes := func(p float64) bool { return d.Float64() < p }
	p := plan{
		seed: seed, members: []int{3, 3, 3, 5, 5, 2, 4}[d.IntN(7)],
		killAfter: between(50*time.Millisecond, time.Second), margin: between(10*time.Millisecond, 100*time.Millisecond),
		patience: between(20*time.Millisecond, 100*time.Millisecond), drift: 0.01,
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
	return p
}

// bound is how long the members that wait when all is healed may wait.
func (p *plan) bound() time.Duration {
	bound := 3*p.lease + time.Duration(p.members)*(4*p.runFor+10*p.patience)
	if p.kind == lock {
		return bound
	}
	return bound + time.Duration(p.members)*10*p.patience
}

// live lets a seed's world live: first with faults, then healed, then at rest.
func live(kind gateKind, seed uint64, s shell, log func(string, ...any)) (w *world, waited int64, err error) {
	p := draw(seed)
	p.kind = kind
	w = newWorld(p, s)
	w.log = log
	healed := int64(w.p.faultsFor)
	if err := w.until(healed); err != nil {
		return w, 0, err
	}
	for !w.check.allServed() {
		if w.now > healed+int64(w.p.bound()) {
			return w, 0, fmt.Errorf("liveness: %v after all was healed, some still wait: %v of lease %v", w.p.bound(), w.check.waits, w.p.lease)
		}
		if err := w.until(w.now + int64(w.p.patience)); err != nil {
			return w, 0, err
		}
	}
	waited = w.now - healed
	return w, waited, w.rests()
}

// rests checks that a gate at rest is silent: "silence in between". Its last handoffs end first.
func (w *world) rests() error {
	if w.p.kind == always {
		return nil
	}
	w.quiet, w.lost = true, w.seq
	if err := w.until(w.now + 4*int64(w.p.runFor) + 40*int64(max(w.p.patience, leastPatience))); err != nil {
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

// A gate needs a shell that keeps its rules, too: each of these breaks one of them, and is noticed in the lock, in a tree and in a ring.
func TestBrokenShellsAreCaught(t *testing.T) {
	const seeds = 40_000
	for _, tc := range []struct {
		what  string
		shell shell
	}{
		{"the agent itself is the guard", shell{agentIsGuard: true}},
		{"the hook outlives kill -9 of the agent", shell{outlives: true}},
		{"the clock stops in suspend", shell{clockStops: true}},
		{"restart keeps the token", shell{keepsToken: true}},
		{"the guard releases although no command of its was killed", shell{alwaysReleases: true}},
	} {
		for _, kind := range []gateKind{lock, tree, q} {
			t.Run(tc.what+", "+gateKinds()[kind], func(t *testing.T) {
				for seed := range uint64(seeds) {
					if _, _, err := live(kind, seed, tc.shell, nil); err != nil {
						t.Logf("seed %d: %v", seed, err)
						return
					}
				}
				t.Errorf("%d seeds do not notice it", seeds)
			})
		}
	}
}

func TestHunt(t *testing.T) {
	for _, name := range gateKinds() {
		if *huntGate == "" || *huntGate == name {
			t.Run(name, func(t *testing.T) { hunt(t, gateKindOf(name)) })
		}
	}
}

func hunt(t *testing.T, kind gateKind) {
	begun := time.Now()
	starts, longest := 0, 0.0
	for seed := *huntFrom; seed < *huntFrom+*huntSeeds; seed++ {
		var log func(string, ...any)
		if *huntShow && seed == *huntFrom {
			log = func(f string, a ...any) { fmt.Printf(f+"\n", a...) }
		}
		w, waited, err := live(kind, seed, shell{}, log)
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, w.p)
		}
		starts += w.starts
		longest = max(longest, float64(waited)/float64(w.p.bound()))
	}
	t.Logf("seeds %d to %d: %d starts; at most %.0f %% of the bound after healing; %.0f seeds/s",
		*huntFrom, *huntFrom+*huntSeeds-1, starts, 100*longest, float64(*huntSeeds)/time.Since(begun).Seconds())
}
