package agent

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/call"
	softgate "github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
)

// span is an operation that ran on a host, and the gates that it was told to hold.
type span struct {
	host  string
	gates []string
	// to is zero while it runs.
	from, to time.Time
}

// begins records that an operation begins.
func (w *world) begins(r *resident, spec hook.Spec) *span {
	s := &span{host: r.cfg.Name, from: time.Now()}
	for _, entry := range spec.Env {
		if key, value, _ := strings.Cut(entry, "="); key == "WANDERD_GATE" || key == "WANDERD_WITH" {
			s.gates = append(s.gates, strings.Fields(value)...)
		}
	}
	slices.Sort(s.gates)
	w.set(func() { w.spans = append(w.spans, s) })
	return s
}

// most returns the greatest number of operations that ran at once under a gate, on several hosts or on one.
func (w *world) most(gate string) (most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.spans {
		n := 0
		for _, o := range w.spans {
			if slices.Contains(o.gates, gate) && !o.from.After(s.from) && (o.to.IsZero() || o.to.After(s.from)) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// ranUnder returns what ran since a time, as HOST: GATE GATE.
func (w *world) ranUnder(since time.Time) (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.spans {
		if !s.from.Before(since) {
			list = append(list, s.host+": "+strings.Join(s.gates, " "))
		}
	}
	return list
}

// commands is a gate without a hook, on call.
func commands(name string, with ...string) gate.Config {
	return gate.Config{
		Name: name, With: with, WithWait: time.Minute, HookTimeout: 2 * time.Hour,
		Protocol: call.Settings{Skip: time.Second, Backups: 2},
	}
}

// upgrades is a gate with a hook, and tokens that go round.
func upgrades(slots int, with ...string) gate.Config {
	const name = "upgrade"
	return gate.Config{
		Name: name, With: with, WithWait: time.Minute, Hook: []string{name}, HookTimeout: time.Minute,
		Protocol: wander.Settings{
			Skip: time.Second, MinInterval: 10 * time.Minute, Walk: wander.Sweep, Backups: 2, Slots: slots,
		},
	}
}

// inTogetherWorld runs a scenario with hosts that have these gates.
func inTogetherWorld(t *testing.T, gates map[string][]gate.Config, scenario func(w *world)) {
	t.Helper()
	inWorld(t, testGate(), func(w *world) {
		w.gatesOn = gates
		for _, name := range w.names() {
			if gates[name] != nil {
				w.start(name, AloneWait)
			}
		}
		time.Sleep(time.Minute)
		scenario(w)
	})
}

// onAll gives some hosts the same gates.
func onAll(hosts string, gates ...gate.Config) map[string][]gate.Config {
	all := make(map[string][]gate.Config)
	for _, host := range hosts {
		all[string(host)] = gates
	}
	return all
}

// called asks a host for a command under gates. It returns how to stop waiting, and the result.
func (w *world) called(host string, gates ...string) (stop context.CancelFunc, ended chan asked) {
	ctx, stop := context.WithCancel(context.Background())
	ended = make(chan asked, 1)
	w.asks(ctx, host, control.ExecRequest{Gate: gates[0], With: gates[1:], Command: "x"}, ended)
	return stop, ended
}

// named returns one gate of a host's status.
func (w *world) named(host, name string) control.Gate {
	w.t.Helper()
	s, err := source{w.agents[host].Agent}.Status(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, g := range s.Gates {
		if g.Name == name {
			return g
		}
	}
	w.t.Fatalf("%s has no gate %s", host, name)
	return control.Gate{}
}

// "A run of this gate holds this gate and those": the hook runs on all hosts, never beside a command under the other
// gate, and while it runs, each of its gates is held here.
func TestARunHoldsTheGatesThatItsGateNames(t *testing.T) {
	inTogetherWorld(t, onAll("abc", upgrades(1, "backup"), commands("backup")), func(w *world) {
		begun := time.Now()
		for range 12 {
			for _, host := range threeHosts() {
				w.called(host, "backup")
			}
		}
		for end := begun.Add(15 * time.Minute); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
			w.mustHoldAll()
		}
		upgrades := 0
		for _, s := range w.ranUnder(begun) {
			if strings.HasSuffix(s, ": backup upgrade") {
				upgrades++
			}
		}
		if upgrades < 3 || len(w.ranUnder(begun))-upgrades != 36 {
			t.Errorf("%d upgrades, %d commands", upgrades, len(w.ranUnder(begun))-upgrades)
		}
		for _, name := range []string{"upgrade", "backup"} {
			if n := w.most(name); n != 1 {
				t.Errorf("%d ran at once under %s", n, name)
			}
		}
	})
}

// mustHoldAll fails if a host runs something, and does not hold one of its gates.
func (w *world) mustHoldAll() {
	w.t.Helper()
	w.mu.Lock()
	var now []*span
	for _, s := range w.spans {
		if s.to.IsZero() {
			now = append(now, s)
		}
	}
	w.mu.Unlock()
	for _, s := range now {
		for _, name := range s.gates {
			g := w.named(s.host, name)
			if over := read(w, func() bool { return !s.to.IsZero() }); !over && (!g.Holding || !g.Running) {
				w.t.Errorf("%s runs under %v, and gate %s is not held: %+v", s.host, s.gates, name, g.Whereabouts)
			}
		}
	}
}

// A caller may name several gates, in any order. All of its host's and other hosts' callers take turns, and none waits
// for ever.
func TestCallersOfSeveralGatesInAnyOrderDoNotBlockEachOther(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	gates := onAll("abc", commands("p", "r"), commands("q", "r", "s"), commands("r"), commands("s"))
	inTogetherWorld(t, gates, func(w *world) {
		begun := time.Now()
		sets := [][]string{
			{"p", "q"}, {"q", "p"}, {"s", "r"}, {"r", "s"}, {"s", "p"}, {"r", "q"}, {"p"}, {"q"}, {"r"}, {"s"},
		}
		var all []chan asked
		for range 3 {
			for _, set := range sets {
				for _, host := range threeHosts() {
					_, ended := w.called(host, set...)
					all = append(all, ended)
				}
			}
		}
		for _, ended := range all {
			if r := <-ended; r.err != nil || r.Err != nil {
				t.Fatalf("%+v", r)
			}
		}
		t.Logf("%d commands of 4s in %v", len(all), time.Since(begun))
		for _, name := range []string{"p", "q", "r", "s"} {
			if n := w.most(name); n != 1 {
				t.Errorf("%d ran at once under %s", n, name)
			}
		}
	})
}

// "No token is held for longer than with_wait for another", also where hosts differ in what they name, so that each
// holds what the other waits for. Then the runs are put off, and both are over sooner or later.
func TestHostsThatWaitForEachOtherLetGo(t *testing.T) {
	gates := map[string][]gate.Config{
		"a": {commands("p", "q"), commands("q")},
		"b": {commands("p"), commands("q", "p")},
		"c": {commands("p"), commands("q")},
	}
	inTogetherWorld(t, gates, func(w *world) {
		// Both are in line while c runs under both gates, so that each has its own before it asks for the other.
		w.takes = 20 * time.Second
		w.called("c", "p")
		w.called("c", "q")
		w.until("c runs under both", time.Minute, func() bool {
			return w.named("c", "p").Running && w.named("c", "q").Running
		})
		w.set(func() { w.takes = 0 })
		begun := time.Now()
		_, first := w.called("a", "p")
		_, second := w.called("b", "q")
		w.until("a waits for q", time.Minute, func() bool { return w.named("a", "p").Because == control.BecauseOthers })
		g := w.named("a", "p")
		if g.Running || g.Callers[0].Running || g.WaitsFor != "q" || g.WaitsZone != "" ||
			!strings.Contains(g.NotRunning, "waiting for gate q for") {
			t.Errorf("%+v: %q", g.Callers, g.NotRunning)
		}
		w.until("a has let go, or b has", 61*time.Second, func() bool {
			g := w.named("a", "p")
			return !g.Holding || g.Running || strings.HasPrefix(g.NotRunning, "put off for ")
		})
		for _, ended := range []chan asked{first, second} {
			if r := <-ended; r.err != nil || r.Err != nil {
				t.Errorf("%+v", r)
			}
		}
		if n := w.most("p"); n != 1 || len(w.ranUnder(begun)) != 2 {
			t.Errorf("%d at once, %v", n, w.ranUnder(begun))
		}
	})
}

// A run whose other gate does not come is put off: the token goes on, and the hosts that do not need the other gate
// run.
func TestARunThatIsPutOffLetsTheTokenGoOn(t *testing.T) {
	deep.AtNight(t, "it takes many seconds")
	gates := onAll("abc", upgrades(1, "backup"), commands("backup"))
	gates["c"] = []gate.Config{upgrades(1)}
	inTogetherWorld(t, gates, func(w *world) {
		w.takes = 30 * time.Minute
		if g := w.named("a", "upgrade"); !slices.Equal(g.With, []string{"backup"}) {
			t.Errorf("%v", g.With)
		}
		w.called("a", "backup")
		w.until("it runs", time.Minute, func() bool { return w.named("a", "backup").Running })
		w.set(func() { w.takes = 0 })
		begun := time.Now()
		w.until("c runs, and the others wait", 15*time.Minute, func() bool {
			return slices.Equal(w.ranUnder(begun), []string{"c: upgrade"})
		})
		time.Sleep(time.Until(begun.Add(31 * time.Minute)))
		w.until("the others run, too", 10*time.Minute, func() bool {
			ran := w.ranUnder(begun)
			return slices.Contains(ran, "a: backup upgrade") && slices.Contains(ran, "b: backup upgrade")
		})
		if n := w.most("backup"); n != 1 {
			t.Errorf("%d ran at once under the other gate", n)
		}
	})
}

// A caller that waits no longer, while its host holds one gate and waits for another, lets go at once.
func TestACallerThatGoesLetsGoOfAllGates(t *testing.T) {
	inTogetherWorld(t, onAll("ab", commands("p"), commands("q")), func(w *world) {
		stop, _ := w.called("b", "q")
		w.until("b runs", time.Minute, func() bool { return w.named("b", "q").Running })
		goes, ended := w.called("a", "p", "q")
		w.until("a waits for q", time.Minute, func() bool { return w.named("a", "p").Because == control.BecauseOthers })
		goes()
		if r := <-ended; !r.NotExecuted {
			t.Errorf("%+v", r)
		}
		if _, other := w.called("b", "p"); (<-other).Err != nil {
			t.Error("p is not free")
		}
		stop()
		begun := time.Now()
		_, both := w.called("a", "q", "p")
		if (<-both).Err != nil || !slices.Equal(w.ranUnder(begun), []string{"a: p q"}) {
			t.Errorf("%v", w.ranUnder(begun))
		}
	})
}

// "A lost grant of any of them cuts the run": the host is suspended, so others revive its tokens.
func TestARunThatLosesOneOfItsGatesIsStopped(t *testing.T) {
	stops := func(c gate.Config) gate.Config {
		s := c.Protocol.(call.Settings)
		s.OnLost = softgate.Stop
		c.Protocol = s
		return c
	}
	for _, which := range []string{"p", "q"} {
		t.Run(which, func(t *testing.T) {
			gates := onAll("abc", commands("p"), commands("q"))
			for _, host := range threeHosts() {
				gates[host] = slices.Clone(gates[host])
				i := slices.IndexFunc(gates[host], func(c gate.Config) bool { return c.Name == which })
				gates[host][i] = stops(gates[host][i])
			}
			inTogetherWorld(t, gates, func(w *world) {
				w.takes = time.Hour
				_, ended := w.called("a", "p", "q")
				w.until("it runs", time.Minute, func() bool { return w.agents["a"].isRunning(w) })
				w.called("b", "p")
				w.called("c", "q")
				time.Sleep(time.Minute)
				w.net.Partition([]netip.AddrPort{w.agents["a"].addr}, []netip.AddrPort{
					w.agents["b"].addr, w.agents["c"].addr,
				})
				time.Sleep(time.Minute)
				w.net.Heal()
				select {
				case r := <-ended:
					if !r.Stopped {
						t.Errorf("%+v", r)
					}
				case <-time.After(5 * time.Minute):
					t.Error("it goes on")
				}
			})
		})
	}
}

// An agent that stops ends its run, and lets go of all gates.
func TestAnAgentThatStopsLetsGoOfAllGates(t *testing.T) {
	inTogetherWorld(t, onAll("abc", commands("p"), commands("q")), func(w *world) {
		w.takes = time.Hour
		_, ended := w.called("a", "p", "q")
		w.until("it runs", time.Minute, func() bool { return w.agents["a"].isRunning(w) })
		_, waits := w.called("b", "p", "q")
		time.Sleep(10 * time.Second)
		stopped := time.Now()
		if err := w.leave("a"); err != nil {
			t.Error(err)
		}
		if r := <-ended; !r.Stopped {
			t.Errorf("%+v", r)
		}
		w.until("b runs", 10*time.Second, func() bool { return w.agents["b"].isRunning(w) })
		if took := time.Since(stopped); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
		if err := w.leave("b"); err != nil { // while it runs
			t.Error(err)
		}
		<-waits
	})
}

// zoned is a gate with a hook and four slots whose runs hold the gate of a zone, and that gate.
func zoned(zone string) []gate.Config {
	g := upgrades(4)
	g.Zone = "upgrade@" + zone
	z := commands(g.Zone)
	z.ZoneOf, z.Protocol = g.Name, call.Settings{Skip: time.Second, Backups: 2, Slots: 1}
	return []gate.Config{g, z}
}

// "At most so many of one zone at once, whatever slots say", and all run.
func TestNoMoreThanPerZoneRunInOneZone(t *testing.T) {
	deep.Only(t, "it takes many seconds")
	gates := map[string][]gate.Config{
		"a": zoned("x"), "b": zoned("x"), "c": zoned("x"), "d": zoned("y"), "e": zoned("y"),
	}
	inTogetherWorld(t, gates, func(w *world) {
		w.until("all have run", 15*time.Minute, func() bool { return len(w.ranUnder(time.Time{})) >= 5 })
		x, y, all := w.most("upgrade@x"), w.most("upgrade@y"), w.most("upgrade")
		if x != 1 || y != 1 || all < 2 {
			t.Errorf("%d at once in x, %d in y, %d in all", x, y, all)
		}
		hosts := make(map[string]int)
		for _, s := range w.ranUnder(time.Time{}) {
			hosts[s[:1]]++
		}
		if len(hosts) != 5 {
			t.Error(fmt.Sprint(hosts))
		}
		w.set(func() { w.takes = 20 * time.Minute })
		w.called("a", "upgrade@x")
		w.until("a host of zone x waits for another one, and says so", 15*time.Minute, func() bool {
			return slices.ContainsFunc(threeHosts(), func(host string) bool {
				g := w.named(host, "upgrade")
				return g.WaitsFor == "upgrade@x" && g.WaitsZone == "x" && !g.WaitsSince.IsZero() &&
					strings.HasPrefix(g.NotRunning, "has the token, and zone x has been busy for ")
			})
		})
	})
}

// "They hold all until the end": what follows the operation is part of the run.
func TestTheOtherGatesAreHeldUntilTheSoakIsOver(t *testing.T) {
	lead := commands("upgrade", "backup")
	lead.Aftercare.Soak = 10 * time.Minute
	inTogetherWorld(t, onAll("abc", lead, commands("backup")), func(w *world) {
		if _, ended := w.called("a", "upgrade"); (<-ended).Err != nil {
			t.Fatal("it has failed")
		}
		ended := time.Now()
		if _, other := w.called("b", "backup"); (<-other).Err != nil || time.Since(ended) < 10*time.Minute {
			t.Errorf("a command under the other gate after %v of the soak", time.Since(ended))
		}
		w.until("the first gate is free, too", time.Minute, func() bool { return !w.named("a", "upgrade").Running })
	})
}

// They are kept for the rest of the soak, too, if the agent dies in it, or is stopped.
func TestTheOtherGatesAreKeptForTheRestOfASoak(t *testing.T) {
	const soak = 10 * time.Minute
	for name, goes := range map[string]func(w *world){
		"it dies": func(w *world) { w.crash("a") },
		"it is stopped": func(w *world) {
			if err := w.leave("a"); err != nil {
				w.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			lead, other := commands("upgrade", "backup"), commands("backup")
			lead.Aftercare.Soak = soak
			lead.Protocol = call.Settings{Skip: time.Second, Backups: 2, Soak: soak}
			other.Protocol = lead.Protocol
			inTogetherWorld(t, onAll("abc", lead, other), func(w *world) {
				if _, ended := w.called("a", "upgrade"); (<-ended).Err != nil {
					t.Fatal("it has failed")
				}
				ended := time.Now()
				time.Sleep(time.Minute)
				goes(w)
				if _, next := w.called("b", "backup"); (<-next).Err != nil || time.Since(ended) < soak ||
					time.Since(ended) > soak+2*time.Minute {
					t.Errorf("a command under the other gate after %v of the soak", time.Since(ended))
				}
			})
		})
	}
}
