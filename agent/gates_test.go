package agent

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/policy/wander"
)

// regates makes an agent read a configuration with these gates; "default" is the world's, and "idle" has no hook.
func (w *world) regates(host string, names ...string) control.Reloaded {
	w.t.Helper()
	r, err := w.reloads(host, func(c *Config) error {
		c.Gates = nil
		for _, name := range names {
			its := w.gateOf(host)
			if its.Name = name; name == "idle" {
				its.Hook = nil
			}
			c.Gates = append(c.Gates, its)
		}
		return nil
	})
	if err != nil || r.Problem != "" {
		w.t.Fatalf("%s: %+v, %v", host, r, err)
	}
	return r
}

// gates are the gates of an agent.
func (w *world) gates(host string) map[string]control.Gate {
	w.t.Helper()
	s, err := source{w.agents[host].Agent}.Status(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	gates := map[string]control.Gate{}
	for _, g := range s.Gates {
		gates[g.Name] = g
	}
	return gates
}

func (w *world) hasGates(host string, names ...string) func() bool {
	return func() bool { return slices.Equal(slices.Sorted(maps.Keys(w.gates(host))), names) }
}

// ran are the runs of a gate on a host.
func (w *world) ran(host, gate string) []history.Run {
	w.t.Helper()
	h, err := source{w.agents[host].Agent}.History(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, g := range h.Gates {
		if g.Name == gate {
			return g.Runs
		}
	}
	return nil
}

// only keeps the observations of one gate.
func (w *world) only(name string) {
	w.set(func() { w.seen = slices.DeleteFunc(w.seen, func(o gate.Observation) bool { return o.Gate != name }) })
}

func trio() []string { return []string{"a", "b", "c"} }

func TestAGateThatIsAddedTakesPartOnAllHosts(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		for _, name := range trio() {
			w.start(name, AloneWait)
		}
		time.Sleep(2 * time.Minute)
		begun := time.Now()
		for _, name := range trio() {
			if r := w.regates(name, "default", "more"); len(r.Waits)+len(r.Restart) != 0 {
				t.Errorf("%+v", r)
			}
			if gates := w.gates(name); len(gates) != 2 {
				t.Errorf("after the reload %s has %v", name, slices.Collect(maps.Keys(gates)))
			}
		}
		w.until("all run both", 5*time.Minute, func() bool {
			return !slices.ContainsFunc(trio(), func(name string) bool {
				return len(w.ran(name, "more")) == 0 ||
					w.ran(name, "default")[len(w.ran(name, "default"))-1].Start.Before(begun)
			})
		})
		for _, name := range trio() {
			if g := w.gates(name)["more"]; g.Members != 3 {
				t.Errorf("%s sees %d members in it", name, g.Members)
			}
		}
		w.only("more")
		if n := w.overlap(begun); n != 0 {
			t.Errorf("two at once for %v", n)
		}
	})
}

// The run goes on to its end, another host has the same token then, and the others know that this one takes no part.
func TestAGateThatIsRemovedEndsItsRunAndPassesItsTokenOn(t *testing.T) {
	its := testGate()
	// The two others keep the token busy, so a random walk misses a member for five minutes in one of a thousand
	// worlds.
	its.Op, its.Backups, its.Walk = 30*time.Second, 2, wander.Sweep
	inWorld(t, its, func(w *world) {
		for _, name := range trio() {
			w.start(name, AloneWait)
		}
		first := w.untilRuns(time.Minute)
		time.Sleep(time.Second)
		removed, was := time.Now(), w.gates(first)["default"]
		r := w.regates(first, "idle")
		if len(r.Waits) != 1 || !strings.Contains(r.Waits[0], "default") {
			t.Errorf("%+v", r)
		}
		if g := w.gates(first)["default"]; !g.Running || !g.Removed || g.Token != was.Token {
			t.Errorf("while it runs: %+v", g)
		}
		w.regates(first, "idle") // once more, while the first still drains
		w.until("it is gone", time.Minute, w.hasGates(first, "idle"))
		if took := time.Since(removed); took < 25*time.Second || took > 35*time.Second {
			t.Errorf("it took %v", took)
		}
		second := w.untilRuns(5 * time.Second)
		if g := w.gates(second)["default"]; second == first || g.Token != was.Token {
			t.Errorf("%s runs under %s", second, g.Token)
		}
		w.until("the others know", 10*time.Second, func() bool { return w.gates(second)["default"].Members == 2 })
		if n := w.overlap(time.Time{}) + time.Duration(w.count(wander.NoteRevived, removed)); n != 0 {
			t.Errorf("two at once, or a token was revived: %d", n)
		}
		w.regates(first, "default")
		w.until("it is back", time.Minute, w.hasGates(first, "default"))
		if runs := w.ran(first, "default"); len(runs) != 1 || runs[0].Failed() || runs[0].Took() != its.Op {
			t.Errorf("its run: %+v", runs)
		}
		if g := w.gates(first)["default"]; !g.LastRun.Equal(was.LastRun) {
			t.Errorf("it has forgotten that it ran at %v: %v", was.LastRun, g.LastRun)
		}
		w.until("it takes part", 5*time.Minute, func() bool { return len(w.ran(first, "default")) == 2 })
		for _, o := range read(w, func() []gate.Observation { return w.seen }) {
			if o.Note == wander.NoteCreated && o.Gate == "default" && o.At.After(removed) {
				t.Errorf("%s made a token", o.Name)
			}
		}
	})
}

func TestAGateThatComesBackWhileItsRunEndsBeginsAfterThat(t *testing.T) {
	gate := testGate()
	gate.Op, gate.Walk = 30*time.Second, wander.Sweep // a random walk can miss a member for long
	inWorld(t, gate, func(w *world) {
		for _, name := range trio() {
			w.start(name, AloneWait)
		}
		first := w.untilRuns(time.Minute)
		w.regates(first, "other")
		if r := w.regates(first, "other", "default"); len(r.Waits) != 1 {
			t.Errorf("%+v", r)
		}
		if g := w.gates(first)["default"]; !g.Running || !g.Removed {
			t.Errorf("while it runs: %+v", g)
		}
		w.until("it is back", time.Minute, func() bool { g, is := w.gates(first)["default"]; return is && !g.Removed })
		w.until("it runs again", 3*gate.MinInterval, func() bool { return len(w.ran(first, "default")) == 2 })
		runs := w.ran(first, "default")
		if runs[0].Failed() || runs[1].Start.Sub(runs[0].Start) < gate.MinInterval {
			t.Errorf("its runs: %+v", runs)
		}
		w.only("default")
		if n := w.overlap(time.Time{}); n != 0 {
			t.Errorf("two at once for %v", n)
		}
	})
}

func TestAStopWaitsForNoRemovedGate(t *testing.T) {
	gate := testGate()
	gate.Op = 30 * time.Second
	inWorld(t, gate, func(w *world) {
		w.start("a", AloneWait)
		w.start("b", AloneWait)
		first := w.untilRuns(time.Minute)
		w.regates(first, "other")
		stopped := time.Now()
		if err := w.leave(first); err != nil {
			t.Error(err)
		}
		if took := time.Since(stopped); took > 10*time.Second {
			t.Errorf("the stop took %v", took)
		}
		if second := w.untilRuns(10 * time.Second); second == first {
			t.Errorf("%s runs again", second)
		}
	})
}

func TestCallersOfARemovedGateAreToldAndTheFirstIsServed(t *testing.T) {
	inWorld(t, onDemand(), func(w *world) {
		w.start("a", AloneRun)
		time.Sleep(time.Minute)
		ended := make(chan asked, 3)
		w.exec(context.Background(), "a", "first", ended)
		w.until("the first one runs", time.Minute, func() bool { return w.agents["a"].isRunning(w) })
		w.exec(context.Background(), "a", "second", ended)
		w.regates("a", "other")
		w.exec(context.Background(), "a", "third", ended)
		for range 3 {
			r := <-ended
			late := r.Err
			if late == nil {
				late = r.err
			}
			if r.name == "first" && (late != nil || r.Took != w.gate.Op) ||
				r.name != "first" &&
					(!refused(late, control.Leaving) || !strings.Contains(late.Error(), "was removed")) {
				t.Errorf("%s: %+v, %v", r.name, r.Result, r.err)
			}
		}
		w.until("it is gone", time.Minute, w.hasGates("a", "other"))
		w.asks(context.Background(), "a", control.ExecRequest{}, ended)
		if r := <-ended; r.err != nil || r.Err != nil {
			t.Errorf("of the only gate: %+v", r)
		}
	})
}

func TestAReloadWithImpossibleGatesChangesNothing(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.start("a", AloneRun)
		time.Sleep(10 * time.Second)
		for name, change := range map[string]func(*Config){
			"twice":          func(c *Config) { c.Gates = append(c.Gates, c.Gates[0]) },
			"another roster": func(c *Config) { c.Gates[0].Name, c.Gates[0].Roster = "new", []string{"x", "y"} },
			"too many": func(c *Config) {
				for i := range 16 {
					more := c.Gates[0]
					more.Name = strings.Repeat("x", i+1)
					c.Gates = append(c.Gates, more)
				}
				c.Gates = c.Gates[1:]
			},
		} {
			r, err := w.reloads("a", func(c *Config) error { change(c); return nil })
			if err != nil || r.Problem == "" {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
			if g, is := w.gates("a")["default"]; !is || g.Removed {
				t.Errorf("%s: the gate goes", name)
			}
		}
	})
}

// As many gates as an agent can have are exchanged for as many others: the new ones come as the old ones go.
func TestAllGatesCanBeExchangedAtOnce(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		var old, others []string
		for i := range 15 {
			old, others = append(old, "old"+string(rune('a'+i))), append(others, "new"+string(rune('a'+i)))
		}
		w.start("a", AloneRun)
		time.Sleep(10 * time.Second)
		w.regates("a", old...)
		w.until("the old ones", time.Minute, w.hasGates("a", old...))
		w.regates("a", others...)
		w.until("the new ones", time.Minute, w.hasGates("a", others...))
	})
}

func TestAStrictGateComesAndGoesWithReloads(t *testing.T) {
	inStrictWorld(t, func(w *world) {
		w.rosters = nil // they start with a soft gate
		for _, name := range trio() {
			w.start(name, AloneWait)
		}
		time.Sleep(time.Minute)
		w.strictly, w.rosters = strictGates()["tree"], map[string][]string{"a": trio(), "b": trio(), "c": trio()}
		for _, name := range trio() {
			w.regates(name, "strict")
		}
		takesPart := func() bool {
			return !slices.ContainsFunc(trio(), func(name string) bool {
				g, is := w.gates(name)["strict"]
				return !is || g.State == control.Agreeing || len(w.gates(name)) != 1
			})
		}
		w.until("all take part", time.Minute, takesPart)
		for _, name := range trio() {
			w.runsOn(name)
		}
		w.regates("c", "strict2") // it leaves the one, and waits in vain for the other
		w.until("it is gone", time.Minute, w.hasGates("c", "strict2"))
		w.runsOn("a")
		w.runsOn("b")
		w.regates("c", "strict")
		w.until("all take part again", time.Minute, takesPart)
		w.runsOn("c")
	}, trio()...)
}
