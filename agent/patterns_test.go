package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/patterns"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/wire"
)

// builds is the pattern of these tests.
func builds() gate.Config { return commands("build-*") }

// onDemandGates counts the gates of patterns on a host.
func (w *world) onDemandGates(host string) (n int) {
	a := w.agents[host].Agent
	_ = do(context.Background(), a, func() error {
		for _, g := range a.gates {
			if gate.ConfigOf(g).Pattern != "" {
				n++
			}
		}
		return nil
	})
	return n
}

// "Hosts that name the same new gate at once never run two": all hosts ask for a new name in the same instant, or a
// little apart, again and again, also where a fifth of all datagrams is lost.
func TestHostsThatMakeAGateAtOnceRunOneAfterTheOther(t *testing.T) {
	for name, loss := range map[string]float64{"all arrive": 0, "a fifth is lost": 0.2} {
		t.Run(name, func(t *testing.T) {
			inTogetherWorld(t, onAll("abcde", builds()), func(w *world) {
				random := rand.New(rand.NewPCG(1, 2))
				var mu sync.Mutex
				w.net.SetFilter(func(_, _ netip.AddrPort, payload []byte) bool {
					mu.Lock()
					defer mu.Unlock()
					class, _, _ := wire.Classify(payload)
					return class == wire.ClassGossip || random.Float64() >= loss
				})
				w.makesAtOnce(deep.Of(10, 25, 100), loss == 0)
			})
		})
	}
}

// makesAtOnce lets all hosts make gates at once. If it is quick, each of them begins to run within half a second.
func (w *world) makesAtOnce(times int, quick bool) {
	var slowest time.Duration
	for i := range times {
		name := fmt.Sprintf("build-%d", i)
		begun := time.Now()
		var all []chan asked
		for k, host := range w.names() {
			time.Sleep(time.Duration(i%4*k) * 700 * time.Microsecond)
			_, ended := w.called(host, name)
			all = append(all, ended)
		}
		w.until("one runs", time.Minute, func() bool { return len(w.ranUnder(begun)) > 0 })
		slowest = max(slowest, time.Since(begun))
		for _, ended := range all {
			if r := <-ended; r.err != nil || r.Err != nil {
				w.t.Errorf("%+v", r)
			}
		}
		if n := w.most(name); n != 1 || len(w.ranUnder(begun)) != 5 {
			w.t.Errorf("%s: %d ran at once, %v", name, n, w.ranUnder(begun))
		}
	}
	w.t.Logf("the first of each runs within %v", slowest)
	if quick && slowest > 500*time.Millisecond {
		w.t.Errorf("the first run of a new name begins after %v", slowest)
	}
}

// A host that joins while a gate on demand is in use calls its token like any other.
func TestAHostThatComesFindsTheTokenOfAGateOnDemand(t *testing.T) {
	gates := onAll("abcde", builds())
	inWorld(t, testGate(), func(w *world) {
		w.gatesOn = gates
		for _, host := range []string{"a", "b", "c"} {
			w.start(host, AloneWait)
		}
		time.Sleep(time.Minute)
		w.takes = 20 * time.Second
		_, first := w.called("a", "build-1")
		w.until("a runs", time.Minute, func() bool { return w.agents["a"].isRunning(w) })
		w.start("d", AloneWait)
		time.Sleep(2 * time.Second)
		_, second := w.called("d", "build-1")
		for _, ended := range []chan asked{first, second} {
			if r := <-ended; r.err != nil || r.Err != nil {
				t.Errorf("%+v", r)
			}
		}
		if n := w.most("build-1"); n != 1 {
			t.Errorf("%d ran at once", n)
		}
	})
}

// A gate that nobody uses is forgotten on all hosts, and is there again when somebody names it. Its numbers rise.
func TestAGateOnDemandIsForgottenAndMadeAgain(t *testing.T) {
	inTogetherWorld(t, onAll("abc", builds()), func(w *world) {
		numbers := []uint64{}
		for range 3 {
			if _, ended := w.called("a", "build-1"); (<-ended).Err != nil {
				t.Fatal("it does not run")
			}
			numbers = append(numbers, w.named("a", "build-1").Seq)
			if n := w.onDemandGates("b"); n != 1 {
				t.Errorf("b has %d", n)
			}
			if s := w.agents["b"].Agent; len(s.status().Gates) != 0 {
				t.Error("b shows a gate that nobody has named there")
			}
			time.Sleep(patterns.Forgets + time.Minute)
			for _, host := range threeHosts() {
				if n := w.onDemandGates(host); n != 0 {
					t.Errorf("%s has %d", host, n)
				}
			}
		}
		if !slices.IsSorted(numbers) || numbers[0] == numbers[1] || numbers[1] == numbers[2] {
			t.Errorf("%v", numbers)
		}
	})
}

// A gate on demand whose holder dies is revived, and where two of five are cut off, they make no token at once.
func TestAGateOnDemandIsGuardedAsAnyOther(t *testing.T) {
	inTogetherWorld(t, onAll("abcde", builds()), func(w *world) {
		w.takes = time.Hour
		w.called("a", "build-1")
		w.until("a runs", time.Minute, func() bool { return w.agents["a"].isRunning(w) })
		_, waits := w.called("b", "build-1")
		w.crash("a")
		w.until("b runs", time.Minute, func() bool { return w.agents["b"].isRunning(w) })
		w.net.Partition([]netip.AddrPort{w.agents["c"].addr, w.agents["d"].addr}, []netip.AddrPort{
			w.agents["b"].addr, w.agents["e"].addr,
		})
		w.until("both know", time.Minute, func() bool {
			one, _ := source{w.agents["c"].Agent}.Status(context.Background())
			other, _ := source{w.agents["d"].Agent}.Status(context.Background())
			return one.Members == 2 && other.Members == 2
		})
		time.Sleep(5 * time.Second)
		w.called("c", "build-2")
		time.Sleep(35 * time.Second)
		if w.agents["c"].isRunning(w) {
			t.Error("hosts that are cut off make a token at once")
		}
		if err := w.leave("b"); err != nil {
			t.Error(err)
		}
		<-waits
	})
}

// "At most 64 at a time", and one message says so. A gate that nobody uses any more makes room.
func TestAHostHasAtMost64GatesOnDemand(t *testing.T) {
	inTogetherWorld(t, onAll("ab", builds()), func(w *world) {
		w.takes = time.Minute
		var all []chan asked
		for i := range 65 {
			_, ended := w.called("a", fmt.Sprintf("build-%d", i))
			all = append(all, ended)
		}
		if r := <-all[64]; r.err == nil || !strings.HasPrefix(r.err.Error(), "64 gates on demand are in use") {
			t.Errorf("%+v", r)
		}
		for _, ended := range all[:64] {
			if r := <-ended; r.err != nil || r.Err != nil {
				t.Errorf("%+v", r)
			}
		}
		time.Sleep(patterns.Spared)
		if _, ended := w.called("a", "build-64"); (<-ended).Err != nil {
			t.Error("there is no room")
		}
		if n := w.onDemandGates("a"); n != 64 {
			t.Errorf("%d", n)
		}
	})
}

// A gate with the exact name wins, then the longest pattern. What matches none is refused, and so is a pattern itself.
func TestTheExactNameWinsThenTheLongestPattern(t *testing.T) {
	gates := onAll("ab", builds(), commands("build-x-*"), commands("build-1"))
	inTogetherWorld(t, gates, func(w *world) {
		for name, pattern := range map[string]string{"build-1": "", "build-2": "build-*", "build-x-1": "build-x-*"} {
			if _, ended := w.called("a", name); (<-ended).Err != nil {
				t.Fatal(name)
			}
			a := w.agents["a"].Agent
			_ = do(context.Background(), a, func() error {
				g, err := a.gateFor(name)
				if err != nil || gate.ConfigOf(g).Pattern != pattern {
					t.Errorf("%s: %v", name, err)
				}
				return nil
			})
		}
		for _, name := range []string{"other", "build-", "build-*", "build-A", ""} {
			_, ended := w.called("a", name)
			if r := <-ended; r.err == nil {
				t.Errorf("%q is a gate", name)
			}
		}
	})
}

// A command may hold gates on demand together with others.
func TestGatesOnDemandAreHeldTogether(t *testing.T) {
	lead := commands("build-*", "cache")
	inTogetherWorld(t, onAll("abc", lead, commands("cache")), func(w *world) {
		begun := time.Now()
		var all []chan asked
		for _, host := range threeHosts() {
			for _, set := range [][]string{{"build-1"}, {"build-2"}, {"cache"}, {"build-2", "build-1"}} {
				_, ended := w.called(host, set...)
				all = append(all, ended)
			}
		}
		for _, ended := range all {
			if r := <-ended; r.err != nil || r.Err != nil {
				t.Errorf("%+v", r)
			}
		}
		for _, name := range []string{"build-1", "build-2", "cache"} {
			if n := w.most(name); n != 1 {
				t.Errorf("%d at once under %s", n, name)
			}
		}
		if n := len(w.ranUnder(begun)); n != 12 {
			t.Errorf("%d", n)
		}
	})
}

// A gate is not forgotten while something runs under it, however long that takes and whoever has forgotten it.
func TestAGateOnDemandIsNotForgottenWhileItIsUsed(t *testing.T) {
	deep.AtNight(t, "it takes many seconds")
	inTogetherWorld(t, onAll("abc", builds()), func(w *world) {
		w.takes = 30 * time.Minute
		_, first := w.called("a", "build-1")
		w.until("a runs", time.Minute, func() bool { return w.agents["a"].isRunning(w) })
		time.Sleep(patterns.Forgets + 5*time.Minute)
		if n := w.onDemandGates("a"); n != 1 {
			t.Errorf("%d", n)
		}
		_, second := w.called("b", "build-1")
		for _, ended := range []chan asked{first, second} {
			if r := <-ended; r.err != nil || r.Err != nil {
				t.Errorf("%+v", r)
			}
		}
		if n := w.most("build-1"); n != 1 {
			t.Errorf("%d ran at once", n)
		}
	})
}

// A reload changes what gates of a pattern have, adds patterns, and removes them with their gates.
func TestAReloadAddsAndRemovesPatterns(t *testing.T) {
	inTogetherWorld(t, onAll("ab", builds(), commands("x")), func(w *world) {
		if _, ended := w.called("a", "build-1"); (<-ended).Err != nil {
			t.Fatal("it does not run")
		}
		reload := func(gates ...gate.Config) {
			for _, host := range []string{"a", "b"} {
				a := w.agents[host].Agent
				a.cfg.Reread = func() (Rereading, error) {
					return Rereading{Config: Config{Gates: gates, StopTimeout: time.Second}, Accept: func() {}}, nil
				}
				if r, err := a.reload(context.Background()); err != nil || r.Problem != "" {
					t.Fatalf("%+v, %v", r, err)
				}
			}
			time.Sleep(30 * time.Second)
		}
		changed := builds()
		changed.Aftercare.Soak = time.Minute
		reload(changed, commands("test-*"), commands("x"))
		for _, name := range []string{"build-1", "test-1"} {
			begun := time.Now()
			if _, ended := w.called("b", name); (<-ended).Err != nil || time.Since(begun) > 30*time.Second {
				t.Errorf("%s does not run, or after %v", name, time.Since(begun))
			}
		}
		if g := w.named("b", "build-1"); g.Care == nil {
			t.Error("the gate does not soak")
		}
		time.Sleep(2 * time.Minute)
		reload(commands("test-*"), commands("x"))
		if _, ended := w.called("b", "build-1"); (<-ended).err == nil {
			t.Error("a gate without a pattern runs")
		}
		if a, b := w.onDemandGates("a"), w.onDemandGates("b"); a != 1 || b != 1 {
			t.Errorf("%d, %d", a, b)
		}
	})
}
