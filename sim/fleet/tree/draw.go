package tree

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
)

// Draw draws everything from a seed: every second world is the paper's, "the system is synchronous […] channels are
// reliable, but messages might be delivered out of order" (section 4); in the others tokens go by handoffs on a network
// with faults.
func Draw(seed uint64) Scenario {
	dice := rand.New(rand.NewPCG(seed, 0x6472_6177))
	pick := func(of ...time.Duration) time.Duration { return of[dice.IntN(len(of))] }
	const section, latency = 80 * time.Millisecond, 25 * time.Millisecond
	s := Scenario{
		Seed: seed, Members: 2 + dice.IntN(30), Backups: 1 + dice.IntN(4), Recovery: tree.Recovery(dice.IntN(2)),
		Section: section, Sections: 1 + dice.IntN(10),
		Timers: tree.Timers{
			Commit:       pick(320*time.Millisecond, time.Second, 4*time.Second, 12*time.Second),
			Reconnection: 1500 * time.Millisecond,
			Token:        pick(320*time.Millisecond, time.Second, 4*time.Second, 12*time.Second),
			Liveness:     150 * time.Millisecond,
		},
		Network: sim.Network{Latency: latency, Encode: true}, CrashWithin: 20 * time.Second, Limit: time.Hour,
	}
	s.Between = pick(section/4, section, time.Duration(s.Members)*section, time.Duration(2*s.Members)*section)
	s.Crashes = dice.IntN(s.Members)
	if dice.IntN(2) == 0 {
		s.Network.Latency, s.Network.Jitter = latency/2, latency
	}
	s.CrashHolder = dice.IntN(2) == 0
	if dice.IntN(4) == 0 {
		s.Withdrawn = 0.3
	}
	if d := sim.NewDice(seed, 310); d.Sometimes(0.3) {
		s.Again = d.Share(0.1, 1)
	}
	if seed%2 == 0 {
		return s
	}
	s.Links = tree.UDP
	s.Network.Loss = float64(pick(0, 1, 5)) / 100
	s.Network.Duplicate = float64(pick(0, 5)) / 100
	s.Leaves, s.Pauses, s.PauseFor = dice.IntN(3), dice.IntN(3), pick(time.Second, 10*time.Second)
	if dice.IntN(2) == 0 {
		s.Faults = sim.Faults{
			CrashEvery: pick(20*time.Second, 2*time.Minute), DownFor: pick(time.Second, 10*time.Second),
		}
	}
	return s
}

// Explore runs a scenario with all checkers that hold for it, and then the other watchers.
func Explore(s Scenario, others ...sim.Watcher) (*Figures, error) {
	model := &checker{}
	watchers := []sim.Watcher{check.NewWakeChecker(), check.NewMessageChecker(), check.NewCustodyChecker(), endless()}
	if s.Links == tree.UDP {
		watchers = append(watchers, check.NewHandoffChecker())
	} else {
		watchers = append(watchers, model)
	}
	w := NewWorld(s, append(watchers, others...)...)
	model.world = w
	f, err := w.Run()
	if err == nil && f.Stuck {
		err = errStuck
	}
	return f, err
}

// errStuck: "no run may hang".
var errStuck = errors.New("served: live sites wait for ever")
