package agent

import (
	"bytes"
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/lab/bubble"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// A fleet that starts within one second makes one token. Then its members take turns: none runs twice within
// min_interval, no two run at once, and no token is regenerated.
func TestFleetTakesTurns(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		begin := time.Now()
		w.startAll()
		time.Sleep(12 * time.Minute)
		if n := w.count(wander.NoteCreated, begin); n != 1 {
			t.Errorf("%d tokens were created", n)
		}
		if n := w.count(wander.NoteRegenerated, begin); n != 0 {
			t.Errorf("%d tokens were regenerated", n)
		}
		if d := w.overlap(begin); d != 0 {
			t.Errorf("two at once for %s", d)
		}
		last := make(map[string]gate.Observation)
		var seq wire.Seq
		for _, r := range w.runs(begin) {
			if before, ok := last[r.Name]; ok && r.At.Sub(before.At) < w.gate.MinInterval {
				t.Errorf("%s ran again after %s", r.Name, r.At.Sub(before.At))
			}
			if r.Token.Seq <= seq {
				t.Errorf("fencing number %d after %d", r.Token.Seq, seq)
			}
			last[r.Name], seq = r, r.Token.Seq
		}
		if len(last) != 5 {
			t.Errorf("only %d members ran", len(last))
		}
	})
}

// An agent with an address to join that sees no other member waits. One with AloneRun runs at once and every
// min_interval.
func TestAloneWaitsOrRuns(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		begin := time.Now()
		w.start("a", AloneWait)
		time.Sleep(time.Hour)
		if n := len(w.runs(begin)); n != 0 {
			t.Errorf("%d runs while waiting", n)
		}
		w.start("b", AloneRun)
		time.Sleep(time.Second)
		if n := len(w.runs(begin)); n != 1 {
			t.Errorf("%d runs of a fleet of one in its first second", n)
		}
		// The waiting one finds the other and takes part.
		w.until("a runs", 10*time.Minute, func() bool {
			return slices.ContainsFunc(w.runs(begin), func(o gate.Observation) bool { return o.Name == "a" })
		})
		if n := w.count(wander.NoteCreated, begin); n != 1 {
			t.Errorf("%d tokens were created", n)
		}
	})
}

// A token is lost with its crashed holder. After regenerate-after the others have a new one.
func TestCrashedHolderIsReplaced(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		holder := w.untilStarts(10 * time.Minute)
		w.crash(holder)
		crash := time.Now()
		w.until("the others run again", 10*time.Minute, func() bool { return len(w.runs(crash)) >= 4 })
		if w.count(wander.NoteRegenerated, crash) == 0 {
			t.Error("nobody regenerated the token, but it was there")
		}
		time.Sleep(10 * time.Minute)
		settled := time.Now()
		time.Sleep(5 * time.Minute)
		if d := w.overlap(settled); d != 0 {
			t.Errorf("two at once for %s long after the crash", d)
		}
		if n := len(w.holders()); n > 1 {
			t.Errorf("%d tokens long after the crash", n)
		}
	})
}

// A member that restarts with its state directory remembers its last run.
func TestRestartWithinMinIntervalDoesNotRun(t *testing.T) {
	gate := testGate()
	gate.MinInterval = time.Hour
	inWorld(t, gate, func(w *world) {
		w.start("a", AloneRun)
		time.Sleep(time.Minute)
		w.crash("a")
		restart := time.Now()
		w.start("a", AloneRun)
		time.Sleep(30 * time.Minute)
		if n := len(w.runs(restart)); n != 0 {
			t.Errorf("%d runs within min_interval of the last", n)
		}
		time.Sleep(30 * time.Minute)
		if n := len(w.runs(restart)); n != 1 {
			t.Errorf("%d runs after min_interval", n)
		}
	})
}

// Both halves of a split fleet continue. When the network heals, one token is left, even after memberlist has forgotten
// the others.
func TestSplitFleetHeals(t *testing.T) {
	deep.AtNight(t, "a long time of many agents")
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		addr := func(names ...string) (all []netip.AddrPort) {
			for _, n := range names {
				all = append(all, w.agents[n].addr)
			}
			return all
		}
		w.net.Partition(addr("a", "b"), addr("c", "d", "e"))
		split := time.Now()
		time.Sleep(12 * time.Minute)
		for _, half := range [][]string{{"a", "b"}, {"c", "d", "e"}} {
			for _, name := range half {
				if !slices.ContainsFunc(w.runs(split), func(o gate.Observation) bool { return o.Name == name }) {
					t.Errorf("%s does not run while the fleet is split", name)
				}
			}
		}
		w.net.Heal()
		time.Sleep(20 * time.Minute)
		healed := time.Now()
		for _, name := range w.names() {
			if n := len(w.agents[name].members.All()); n != 5 {
				t.Errorf("%s knows %d members after the split", name, n)
			}
		}
		time.Sleep(10 * time.Minute)
		if d := w.overlap(healed); d != 0 {
			t.Errorf("two at once for %s after the split has healed", d)
		}
		tokens := make(map[wire.TokenID]bool)
		for _, r := range w.runs(healed) {
			tokens[r.Token.ID] = true
		}
		if len(tokens) != 1 {
			t.Errorf("runs under %d tokens after the split has healed", len(tokens))
		}
	})
}

// A graceful stop ends the hook, passes the token on and ends within its bound: no token has to be regenerated.
func TestLeavePassesTheTokenOn(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		begin := time.Now()
		w.startAll()
		time.Sleep(5 * time.Minute)
		holder := w.untilStarts(10 * time.Minute)
		stop := time.Now()
		if err := w.leave(holder); err != nil {
			t.Error(err)
		}
		if took := time.Since(stop); took > 15*time.Second {
			t.Errorf("the stop took %s", took)
		}
		time.Sleep(10 * time.Minute)
		if n := w.count(wander.NoteRegenerated, begin); n != 0 {
			t.Errorf("%d tokens were regenerated", n)
		}
		if n := len(w.runs(stop)); n < 4 {
			t.Errorf("%d runs in the ten minutes after", n)
		}
	})
}

// A host that was suspended while it held the token gives it up first.
func TestSuspendedHostGivesTheTokenUp(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		holder := w.untilStarts(10 * time.Minute)
		wake := time.Now()
		w.mu.Lock()
		w.agents[holder].asleep += time.Hour
		w.mu.Unlock()
		time.Sleep(15 * time.Second)
		if n := w.count(wander.NoteGaveUp, wake); n != 1 {
			t.Errorf("gave up %d tokens", n)
		}
	})
}

// A run whose start cannot be recorded does not happen, and the token goes on. It does not count as a run, and the log
// has at most one line a minute about it.
func TestARunThatCannotBeSavedDoesNotStart(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	inWorld(t, testGate(), func(w *world) {
		var log bytes.Buffer
		w.log = zerolog.New(zerolog.SyncWriter(&log)).Level(zerolog.WarnLevel)
		w.startAll()
		time.Sleep(5 * time.Minute)
		for who := ""; who != "a"; {
			who = w.untilStarts(2 * w.gate.MinInterval)
		}
		time.Sleep(2 * w.gate.Op) // the end of a's run has been recorded, and its next one is far away
		// A directory in place of the temporary file: only records cannot be saved.
		if err := os.Mkdir(filepath.Join(w.dir, "a", "gate-default.json.tmp"), 0o700); err != nil {
			t.Fatal(err)
		}
		broken, before := time.Now(), gateOf(t, w, "a")
		time.Sleep(10 * time.Minute)
		w.mu.Lock()
		started := 0
		for _, o := range w.seen {
			if o.Ended && o.Name == "a" && o.At.After(broken.Add(w.gate.Op)) {
				started++
			}
		}
		w.mu.Unlock()
		if started != 0 {
			t.Errorf("a's hook ran %d times without a record", started)
		}
		if n := w.count(wander.NoteRegenerated, broken); n != 0 {
			t.Errorf("%d tokens were regenerated", n)
		}
		now := gateOf(t, w, "a")
		if now.Runs != before.Runs || now.Failures != 0 || now.Notes["denied"] == 0 || now.LastExit != "ok" {
			t.Errorf("%d runs after %d, of which %d failed, the last one: %q; %v", now.Runs, before.Runs, now.Failures,
				now.LastExit, now.Notes)
		}
		if d := now.LastRun.Sub(before.LastRun).Abs(); d > time.Millisecond || now.LastSuccess != before.LastSuccess ||
			now.LastSuccess.IsZero() {
			t.Errorf("the last run was %v, and is %v; the last success %v and %v", before.LastRun, now.LastRun,
				before.LastSuccess, now.LastSuccess)
		}
		if !strings.Contains(now.SaveError, "the previous one is kept") {
			t.Errorf("the status says of the disk: %q", now.SaveError)
		}
		bubble.Wait()
		if n := strings.Count(log.String(), "cannot save"); n < 2 || n > 11 || n != strings.Count(log.String(), "\n") {
			t.Errorf("in ten minutes %d lines tell of it:\n%s", n, log.String())
		}
	})
}

// A member with other settings, or one that is unreachable, causes the same note again and again. The log has it at
// most once a minute.
func TestARepeatingNoteIsLoggedOnceAMinute(t *testing.T) {
	deep.AtNight(t, "a long time of many agents")
	for name, scenario := range map[string]struct {
		begin func(w *world)
		says  string
	}{
		"other slots": {func(w *world) { w.gate.Slots = 2 }, "another number of slots"},
		"no answer": {func(w *world) {
			w.net.SetFilter(func(_, dst netip.AddrPort, _ []byte) bool { return dst != w.agents["e"].addr })
		}, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, testGate(), func(w *world) {
				for _, name := range w.names()[:4] {
					w.start(name, AloneWait)
				}
				scenario.begin(w)
				var log bytes.Buffer
				w.log = zerolog.New(zerolog.SyncWriter(&log)).Level(zerolog.InfoLevel)
				w.start("e", AloneWait)
				time.Sleep(6 * time.Minute)
				bubble.Wait()
				if n := strings.Count(log.String(), scenario.says); n < 2 || n > 7 {
					t.Errorf("it is logged %d times in six minutes", n)
				}
			})
		})
	}
}

// Recorded, truncated, changed and foreign datagrams are counted and never answered.
func TestForeignDatagramsAreCountedAndNeverAnswered(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		unverified := w.net.Endpoint(netip.MustParseAddrPort("10.0.0.99:1"))
		defer func() { _ = unverified.Close() }()
		var mu sync.Mutex
		var recorded [][]byte
		answers := 0
		w.net.SetFilter(func(_, dst netip.AddrPort, payload []byte) bool {
			mu.Lock()
			defer mu.Unlock()
			if dst == unverified.Addr {
				answers++
			}
			if dst == w.agents["b"].addr && payload[3] == byte(wire.ClassSealed) && len(recorded) < 50 {
				recorded = append(recorded, slices.Clone(payload))
			}
			return true
		})
		w.startAll()
		time.Sleep(10 * time.Minute)
		mu.Lock()
		old := slices.Clone(recorded)
		mu.Unlock()
		if len(old) < 10 {
			t.Fatalf("only %d datagrams were recorded", len(old))
		}
		send := func(b []byte) {
			if err := unverified.Packets.WriteTo(b, netip.Addr{}, w.agents["b"].addr); err != nil {
				t.Fatal(err)
			}
		}
		runs := len(w.runs(time.Time{}))
		for _, d := range old {
			send(d)
			send(d[:len(d)-1])
			changed := slices.Clone(d)
			changed[len(changed)/2] ^= 1
			send(changed)
			send(append([]byte("GET / HTTP/1.1"), d...))
			send(append(slices.Clone(d), make([]byte, 1500)...))
		}
		time.Sleep(time.Second)
		if d := w.overlap(time.Time{}); d != 0 {
			t.Errorf("two at once for %s", d)
		}
		if got := len(w.runs(time.Time{})); got > runs+1 {
			t.Errorf("%d runs in the second of the replay", got-runs)
		}
		s, err := source{w.agents["b"].Agent}.Status(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, why := range []wire.Drop{wire.DropSeal, wire.DropMagic, wire.DropSize} {
			if s.Dropped[why.String()] == 0 {
				t.Errorf("nothing was counted as %q: %v", why, s.Dropped)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if answers != 0 {
			t.Errorf("%d answers to an unverified sender", answers)
		}
	})
}

// Without a secret an agent refuses any address but loopback, unless Insecure is set.
func TestWithoutASecretOnlyLoopbackIsAllowed(t *testing.T) {
	soft := testGate()
	cfg := Config{
		Name: "a", Bind: netip.MustParseAddrPort("0.0.0.0:0"), StateDir: t.TempDir(),
		Gates: []gate.Config{soft.config()},
	}
	_, err := New(cfg)
	if err == nil || !strings.Contains(err.Error(), "--secret-file") || !strings.Contains(err.Error(), "--insecure") {
		t.Errorf("the error names no remedy: %v", err)
	}
}

// Impossible configurations are refused before anything is bound.
func TestImpossibleConfigurationsAreRefused(t *testing.T) {
	protocol := testGate().Settings
	for name, gates := range map[string][]gate.Config{
		"no gate":     nil,
		"no protocol": {{Name: "x", Hook: []string{"y"}}},
		"a gate twice": {
			{Name: "x", Hook: []string{"y"}, Protocol: protocol}, {Name: "x", Hook: []string{"y"}, Protocol: protocol},
		},
	} {
		if err := (&Config{Bind: netip.MustParseAddrPort("127.0.0.1:0"), Gates: gates}).validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A firewall lets TCP through and no datagram: the members see each other, but cannot pass a token. Each makes one
// after max_interval and runs under it, sometimes at the same time as others.
func TestWithoutDatagramsEveryMemberRunsAfterMaxInterval(t *testing.T) {
	deep.AtNight(t, "five agents that connect in vain for half an hour")
	inWorld(t, guardedGate(), func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		w.net.SetFilter(func(_, _ netip.AddrPort, _ []byte) bool { return false })
		time.Sleep(5 * time.Minute)
		blocked, laps := time.Now(), 10
		time.Sleep(time.Duration(laps) * 3 * w.gate.MinInterval)
		runs := map[string]int{}
		for _, r := range w.runs(blocked) {
			runs[r.Name]++
		}
		for _, name := range w.names() {
			if n := gateOf(t, w, name).Members; n != 5 {
				t.Errorf("%s sees %d members", name, n)
			}
			if n := runs[name]; n < laps-2 || n > laps+1 {
				t.Errorf("%s ran %d times in %d max_intervals", name, n, laps)
			}
		}
	})
}
