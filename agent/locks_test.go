package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/deep"
)

// client is the client of each host that asks before a reboot.
const client = "0123456789abcdef"

// inLockingWorld runs a test with three hosts that run nothing by themselves: clients ask before they reboot.
func inLockingWorld(t *testing.T, scenario func(w *world)) {
	t.Helper()
	gate := testGate()
	gate.Hook, gate.HookTimeout = nil, 0
	t.Run("tree", func(t *testing.T) {
		inRebootingWorldWith(t, gate, 0, func(w *world) {
			w.until("all take part", keeps+2*time.Minute, func() bool { return len(w.participants()) == 3 })
			time.Sleep(keeps) // a new gate begins with the longest wait
			scenario(w)
		})
	})
	gate.onCall, gate.Settings.Keep, gate.MinInterval, gate.Backups = true, keeps, 0, 2
	t.Run("call", func(t *testing.T) {
		deep.Only(t, "runs what the strict gate runs in half a minute")
		inWorld(t, gate, func(w *world) {
			for _, name := range threeHosts() {
				w.start(name, AloneWait)
			}
			time.Sleep(time.Minute)
			scenario(w)
		})
	})
}

// preReboot sends a pre-reboot, which ends when cancel is called. The result follows on the channel.
func (w *world) preReboot(name string) (granted chan error, cancel func()) {
	ctx, cancel := context.WithCancel(context.Background())
	granted = make(chan error, 1)
	l := locks{w.agents[name].Agent, w.gate.Name}
	w.wg.Go(func() { granted <- l.PreReboot(ctx, client) })
	return granted, cancel
}

func (w *world) mustGrant(name string) {
	w.t.Helper()
	granted, cancel := w.preReboot(name)
	defer cancel()
	select {
	case err := <-granted:
		if err != nil {
			w.t.Fatalf("%s: %v", name, err)
		}
	case <-time.After(time.Minute):
		w.t.Fatalf("%s is not granted a reboot within a minute", name)
	}
}

func (w *world) mustNotGrant(name string, within time.Duration) {
	w.t.Helper()
	granted, cancel := w.preReboot(name)
	defer cancel()
	select {
	case err := <-granted:
		w.t.Fatalf("%s may reboot: %v", name, err)
	case <-time.After(within):
	}
}

func (w *world) steady(name string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := (locks{w.agents[name].Agent, w.gate.Name}).SteadyState(ctx, client); err != nil {
		w.t.Errorf("%s: %v", name, err)
	}
}

// keptByA returns what a host says of the kept grant of host a.
func (w *world) keptByA(name string) control.Kept {
	w.t.Helper()
	list := w.strict(name).Kept
	if len(list) != 1 || list[0].Name != "a" {
		w.t.Fatalf("%s says of kept grants: %+v", name, list)
	}
	return list[0]
}

// shutDown lets a host go down, and stops its agent as the service manager does.
func (w *world) shutDown(name string) {
	w.t.Helper()
	w.set(func() { w.agents[name].stops = true })
	if err := w.leave(name); err != nil {
		w.t.Errorf("%s: %v", name, err)
	}
}

// A host that has been granted its reboot keeps the others waiting until its client says that it is steady again. A
// second pre-reboot while it holds the grant is granted at once.
func TestAClientHoldsTheGrantAcrossItsReboot(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	for name, powerCut := range map[string]bool{"shut down": false, "power cut": true} {
		t.Run(name, func(t *testing.T) {
			inLockingWorld(t, func(w *world) {
				w.mustGrant("a")
				w.mustGrant("a")
				w.mustNotGrant("b", time.Minute)
				if powerCut {
					w.crash("a")
				} else {
					w.shutDown("a")
				}
				gone := time.Now()
				w.mustNotGrant("b", 5*time.Minute)
				if k := w.keptByA("b"); !k.IsAway() || k.AwaySince.Sub(gone) > time.Minute {
					t.Errorf("b says of a, which is away since %v: %+v", gone, k)
				}
				w.set(func() { w.agents["a"].comesUp = true })
				w.comesBack("a")
				w.mustNotGrant("b", time.Minute)
				if k := w.keptByA("b"); k.IsAway() || k.BackSince.IsZero() {
					t.Errorf("b says of a, which is back: %+v", k)
				}
				if k := w.keptByA("a"); !k.Self || !strings.Contains(k.State, "steady") {
					t.Errorf("a says of itself: %+v", k)
				}
				w.steady("a") // also while the host is still starting
				if k := w.keptByA("a"); !strings.Contains(k.State, "starting") {
					t.Errorf("a says of itself: %+v", k)
				}
				w.mustNotGrant("b", time.Minute)
				w.set(func() { w.agents["a"].comesUp = false })
				w.mustGrant("b")
				w.steady("a")
				w.mustNotGrant("c", time.Minute)
				w.steady("b")
				w.mustGrant("c")
				runs := w.history("a")
				if n := len(runs); n != 1 || runs[0].Reboot == nil || runs[0].Failed() ||
					runs[0].Command != "fleetlock" {
					t.Errorf("its history: %+v", runs)
				}
			})
		})
	}
}

// An agent that is started again in the same boot still knows that its client may reboot, whatever has ended it.
func TestAClientHoldsTheGrantAcrossARestartOfTheAgent(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	for name, crashes := range map[string]bool{"stopped": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			inLockingWorld(t, func(w *world) {
				w.mustGrant("a")
				for range 2 {
					if crashes {
						w.crash("a")
					} else if err := w.leave("a"); err != nil {
						t.Fatal(err)
					}
					w.mustNotGrant("b", time.Minute)
					w.start("a", AloneWait)
					w.mustNotGrant("b", time.Minute)
				}
				w.mustGrant("a")
				w.shutDown("a")
				w.mustNotGrant("b", time.Minute)
				w.comesBack("a")
				w.mustNotGrant("b", time.Minute)
				w.steady("a")
				w.mustGrant("b")
			})
		})
	}
}

// A client that is steady without a reboot gives its grant back, also after a restart of the agent. But not while its
// host goes down.
func TestAClientThatIsSteadyInTheSameBootGivesItsGrantBack(t *testing.T) {
	inLockingWorld(t, func(w *world) {
		w.steady("a")
		w.mustGrant("a")
		w.steady("a")
		w.mustGrant("b")
		if err := w.leave("b"); err != nil {
			t.Fatal(err)
		}
		w.start("b", AloneWait)
		time.Sleep(time.Minute)
		w.steady("b")
		w.mustGrant("c")
		w.set(func() { w.agents["c"].stops = true })
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := (locks{w.agents["c"].Agent, w.gate.Name}).SteadyState(ctx, client); err == nil {
			t.Error("a host that goes down is steady")
		}
		w.mustNotGrant("a", time.Minute)
		w.shutDown("c")
		w.mustNotGrant("a", time.Minute)
	})
}

// A host that does not reboot within keep loses its grant, and its history says so. Restarts of the agent do not make
// it longer.
func TestAClientThatDoesNotRebootLosesItsGrant(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	for name, restart := range map[string]bool{"one agent": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			inLockingWorld(t, func(w *world) {
				w.mustGrant("a")
				time.Sleep(keeps / 2)
				if restart {
					if err := w.leave("a"); err != nil {
						t.Fatal(err)
					}
					w.start("a", AloneWait)
				}
				w.mustNotGrant("b", keeps/2-time.Minute)
				time.Sleep(2 * time.Minute)
				w.mustGrant("b")
				runs := w.history("a")
				if len(runs) != 1 || !strings.Contains(runs[0].Error, "has not rebooted") {
					t.Errorf("its history: %+v", runs)
				}
			})
		})
	}
}

// A client that asks again while it holds the grant is about to let its host go down only now: its time begins again,
// also after a restart of the agent.
func TestAClientThatAsksAgainHasItsWholeTime(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	for name, restart := range map[string]bool{"one agent": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			inLockingWorld(t, func(w *world) {
				w.mustGrant("a")
				time.Sleep(keeps - time.Minute)
				w.mustGrant("a")
				if restart {
					w.crash("a")
					w.start("a", AloneWait)
				}
				w.mustNotGrant("b", keeps-time.Minute)
				time.Sleep(2 * time.Minute)
				w.mustGrant("b")
			})
		})
	}
}

// A host that comes back without its client hands its grant back after keep.
func TestAHostWhoseClientStaysAwayLosesItsGrant(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	inLockingWorld(t, func(w *world) {
		w.mustGrant("a")
		w.shutDown("a")
		time.Sleep(time.Minute)
		w.comesBack("a")
		w.mustNotGrant("b", keeps-time.Minute)
		time.Sleep(2 * time.Minute)
		w.mustGrant("b")
	})
}

// A host that is away for too long has lost its grant: its client is told no until it has its turn again.
func TestAClientThatComesBackLateHoldsNothing(t *testing.T) {
	inLockingWorld(t, func(w *world) {
		w.mustGrant("a")
		w.shutDown("a")
		time.Sleep(keeps + time.Minute)
		w.mustGrant("b")
		w.comesBack("a")
		early, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := (locks{w.agents["a"].Agent, w.gate.Name}).PreReboot(early, client); err == nil {
			t.Error("it is granted a reboot before the others have said that it still has its grant")
		}
		time.Sleep(time.Minute)
		w.mustNotGrant("a", time.Minute)
		w.steady("b")
		w.mustGrant("a")
	})
}

// A client that goes before it was told holds nothing, also if another of its requests has gone before.
func TestAClientThatGoesHoldsNothing(t *testing.T) {
	inLockingWorld(t, func(w *world) {
		w.mustGrant("a")
		first, endFirst := w.preReboot("b")
		second, endSecond := w.preReboot("b")
		time.Sleep(time.Minute)
		endFirst()
		time.Sleep(time.Second)
		if len(first) != 1 || len(second) != 0 {
			t.Errorf("one has gone: %d and %d are answered", len(first), len(second))
		}
		endSecond()
		time.Sleep(time.Second)
		w.steady("a")
		w.mustGrant("c")
	})
}

// Another client of the same host is refused while the first holds the grant, or waits for it.
func TestAnotherClientIsRefused(t *testing.T) {
	inLockingWorld(t, func(w *world) {
		w.mustGrant("a")
		err := (locks{w.agents["a"].Agent, w.gate.Name}).PreReboot(context.Background(), "another")
		if err == nil || !strings.Contains(err.Error(), "another client") {
			t.Errorf("it is answered %v", err)
		}
	})
}

// A grant that cannot be recorded is none: the agent that starts again would give it back.
func TestAGrantThatIsSlowToRecordIsToldLater(t *testing.T) {
	inLockingWorld(t, func(w *world) {
		takes := 2 * time.Second
		if w.rosters == nil {
			takes = 400 * time.Millisecond // A soft gate denies a grant that takes longer than half a skip.
		}
		w.set(func() { w.saves["a"] = takes })
		asked := time.Now()
		granted, cancel := w.preReboot("a")
		defer cancel()
		w.until("the grant", time.Minute, func() bool { return len(granted) > 0 })
		if runs := w.runs(asked); len(runs) != 1 || time.Since(runs[0].At) < takes {
			t.Errorf("granted before the client was in the record: %+v", runs)
		}
		w.crash("a")
		w.set(func() { w.saves["a"] = 0 })
		w.start("a", AloneWait)
		w.mustNotGrant("b", 2*time.Minute)
	})
}
