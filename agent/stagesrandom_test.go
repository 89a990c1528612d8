package agent

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/aftercare"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/stages"
)

// "Nobody runs before all of the earlier stages have": a seed draws the stages, the protocol, the soak, and which
// agents are killed or stopped while a release goes through. They come back soon.
func TestNoSeedLetsAReleasePassAStage(t *testing.T) {
	deep.AtNight(t, "each fleet takes some seconds")
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 103))
			g := testGate()
			g.ready, g.HookTimeout, g.Backups = true, time.Hour, 2
			if g.onCall = dice.IntN(2) == 0; !g.onCall {
				g.Slots = 1 + dice.IntN(2)
			}
			inWorld(t, g, func(w *world) {
				w.care = aftercare.Config{Soak: time.Duration(dice.IntN(3)) * 15 * time.Second}
				w.takes = time.Duration(1+dice.IntN(90)) * time.Second
				names := w.names()
				dice.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
				w.stages = stages.Config{First: names[:1+dice.IntN(3)], Wait: time.Hour}
				releaseIn(w, dice, names)
			})
		})
	}
}

// releaseIn lets a release go through a world, and checks the order of its runs.
func releaseIn(w *world, dice *rand.Rand, names []string) {
	w.everybody(75)
	for _, name := range names {
		w.start(name, AloneWait)
	}
	time.Sleep(3 * time.Minute)
	released := time.Now()
	w.everybody(0)
	has, seen, faults := map[string]bool{}, 0, 3
	nextFault := time.Now().Add(time.Duration(dice.IntN(900)) * time.Second)
	for deadline := released.Add(12 * time.Hour); len(has) < len(names); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			w.t.Errorf("after %v only %v have it (stages %q)", time.Since(released), has, w.stages.First)
			return
		}
		events := read(w, func() []gate.Observation { return w.seen })
		for _, o := range events[seen:] {
			switch stage := w.stages.Of(o.Name); {
			case o.Granted && !has[o.Name]:
				for _, earlier := range names {
					if w.stages.Of(earlier) < stage && !has[earlier] {
						w.t.Errorf("%s runs before %s (stages %q)", o.Name, earlier, w.stages.First)
					}
				}
			case o.Ended && o.Err == nil && !o.Stopped && o.Took > 0:
				has[o.Name] = true
				w.set(func() { w.says[o.Name] = answer{exit: 75} })
			}
		}
		seen = len(events)
		if faults == 0 || time.Now().Before(nextFault) {
			continue
		}
		faults--
		nextFault = time.Now().Add(time.Duration(60+dice.IntN(900)) * time.Second)
		name := names[dice.IntN(len(names))]
		if dice.IntN(2) == 0 {
			w.crash(name)
		} else if err := w.leave(name); err != nil {
			w.t.Error(err)
		}
		time.Sleep(time.Duration(dice.IntN(300)) * time.Second)
		w.start(name, AloneWait)
		time.Sleep(20 * time.Second)
		for _, host := range names { // a run that was cut short in a stage has paused the gate
			if gateOf(w.t, w, host).Paused != nil {
				resume(w.t, w, host)
				break
			}
		}
	}
}
