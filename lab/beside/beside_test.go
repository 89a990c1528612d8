// Package beside holds the simulator beside real agents. It has tests only: fleets of complete agents, the real
// memberlist included, on a network in memory in virtual time, and the simulator with the same constants and the same
// faults.
//
//	go test ./lab/beside -v     prints what both lead to
package beside

import (
	"flag"
	"math"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
)

var fleets = flag.Bool("fleets", false,
	"hold more fleets of real agents beside simulated ones, with more kinds of faults, which takes some minutes")

// lucks is how many simulated fleets are watched beside each fleet of real agents, with the same faults.
const lucks = 5

// A simulated fleet is like a real one: busy and median are within 5 %, the 99th percentile is within 20 %. Real agents
// draw at random: without -fleets, two fleets of them are watched with the most frequent fault, and the bounds are
// twice as wide.
func TestASimulatedFleetIsLikeARealOne(t *testing.T) {
	deep.Only(t, "fleets of 20 real agents")
	const most = "kill -9, back in five seconds"
	rounds, leeway := uint64(6), 1.0
	if !*fleets {
		rounds, leeway = 2, 2
	}
	calm := world{
		members: 20, skip: time.Second, op: 410 * time.Millisecond, minInterval: 10 * time.Second, backups: 2,
		settles: 30 * time.Second, lasts: 4 * time.Minute,
	}
	for name, change := range map[string]func(w *world){
		most: func(w *world) { w.killEvery, w.downFor = 6*time.Second, 5*time.Second },
		"kill -9, back in half a minute": func(w *world) {
			w.killEvery, w.downFor = 40*time.Second, 30*time.Second
		},
		"pauses": func(w *world) { w.pauseEvery, w.pauseFor = 6*time.Second, 3*time.Second },
		"loss":   func(w *world) { w.loss = 0.05 },
		"all of them": func(w *world) {
			w.killEvery, w.downFor = 12*time.Second, 5*time.Second
			w.pauseEvery, w.pauseFor = 12*time.Second, 3*time.Second
			w.loss = 0.02
		},
	} {
		if name != most && !*fleets {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := calm
			change(&w)
			var agents, simulated []result
			for seed := range rounds {
				agents = append(agents, w.real(t, seed))
				for luck := range uint64(lucks) {
					simulated = append(simulated, w.simulated(t, seed, seed*lucks+luck))
				}
			}
			r, s := sum(agents...), sum(simulated...)
			t.Logf("real agents: %v", r)
			t.Logf("simulated:   %v", s)
			within(t, "busy", r.busy, s.busy, leeway*0.05)
			within(t, "median", r.p50.Seconds(), s.p50.Seconds(), leeway*0.05)
			within(t, "p99", r.p99.Seconds(), s.p99.Seconds(), leeway*0.2)
			if math.Abs(r.overlap-s.overlap) > 0.01 {
				t.Errorf("overlap %.4f, simulated %.4f", r.overlap, s.overlap)
			}
		})
	}
}

func within(t *testing.T, what string, agents, simulated, by float64) {
	t.Helper()
	if math.Abs(simulated-agents) > by*agents {
		t.Errorf("%s %.3f, simulated %.3f: off by %.1f %%", what, agents, simulated, 100*(simulated/agents-1))
	}
}
