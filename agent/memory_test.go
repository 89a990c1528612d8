package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/lab/bubble"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// seeded is a fleet of the first n members, in which all but the first join the first.
func (w *world) seeded(n int) []string {
	names := w.names()[:n]
	for i, name := range names {
		if i == 0 {
			w.startJoining(name, AloneAuto)
		} else {
			w.startJoining(name, AloneAuto, names[0])
		}
	}
	return names
}

// tokens counts the tokens of all runs since a time.
func (w *world) tokens(since time.Time) int {
	tokens := make(map[wire.TokenID]bool)
	for _, r := range w.runs(since) {
		tokens[r.Token.ID] = true
	}
	return len(tokens)
}

// The seed has no address to join. It and the others remember each other, so it founds no second fleet.
func TestARestartedSeedFoundsNoSecondFleet(t *testing.T) {
	deep.AtNight(t, "a long time of many agents")
	for _, down := range []time.Duration{100 * time.Millisecond, 5 * time.Second, 10 * time.Minute} {
		t.Run(down.String(), func(t *testing.T) {
			inWorld(t, testGate(), func(w *world) {
				names := w.seeded(3)
				time.Sleep(10 * time.Minute)
				// A token that dies with its holder is replaced; that is correct.
				w.until("another one runs", 10*time.Minute, func() bool {
					return read(w, func() bool { return w.agents[names[1]].running > 0 })
				})
				w.crash(names[0])
				time.Sleep(down)
				restart := time.Now()
				w.startJoining(names[0], AloneAuto)
				time.Sleep(10 * time.Minute)
				if n := w.count(wander.NoteCreated, restart) + w.count(wander.NoteRegenerated, restart); n > 0 {
					t.Errorf("%d new tokens after the restart", n)
				}
				if d := w.overlap(restart); d > 0 {
					t.Errorf("two at once for %s", d)
				}
				if n := w.tokens(restart); n != 1 {
					t.Errorf("runs under %d tokens", n)
				}
			})
		})
	}
}

// All hosts but one are gone for good. The remaining one logs that it waits for them, and continues alone after
// max_interval.
func TestARestartedMemberContinuesAloneAfterMaxInterval(t *testing.T) {
	deep.Only(t, "a long time of many agents")
	for name, join := range map[string][]string{"without join": nil, "with join": {"b"}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, testGate(), func(w *world) {
				names := w.seeded(3)
				time.Sleep(10 * time.Minute)
				for _, name := range names {
					w.crash(name)
				}
				var log bytes.Buffer
				w.log = zerolog.New(zerolog.SyncWriter(&log)).Level(zerolog.InfoLevel)
				restart := time.Now()
				w.startJoining("a", AloneAuto, join...)
				patience := 3 * w.gate.MinInterval
				time.Sleep(patience - time.Second)
				if n := len(w.runs(restart)); n > 0 {
					t.Errorf("%d runs", n)
				}
				if s := gateOf(t, w, "a"); !strings.Contains(s.NotRunning, "--alone") ||
					s.RegenerateAt.Sub(restart).Round(time.Second) != patience {
					t.Errorf("its status says %q, and to go on at %s", s.NotRunning, s.RegenerateAt)
				}
				time.Sleep(2 * time.Second)
				if n := len(w.runs(restart)); n != 1 {
					t.Errorf("%d runs after max_interval", n)
				}
				bubble.Wait()
				if s := log.String(); strings.Count(s, `"remembers":2`) != 1 || !strings.Contains(s, "--alone run") {
					t.Errorf("it logged %s", s)
				}
			})
		})
	}
}

// The operator sets --alone run, because the others are gone.
func TestARestartedMemberWithAloneRunRunsAtOnce(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		names := w.seeded(2)
		time.Sleep(10 * time.Minute)
		for _, name := range names {
			w.crash(name)
		}
		time.Sleep(w.gate.MinInterval)
		restart := time.Now()
		w.startJoining("a", AloneRun)
		time.Sleep(time.Second)
		if n := len(w.runs(restart)); n != 1 {
			t.Errorf("%d runs", n)
		}
	})
}

// A whole fleet is switched off and on within seconds. One host is broken, and one is new.
func TestARememberedFleetSoonStartsWithOneToken(t *testing.T) {
	deep.Only(t, "a long time of many agents")
	inWorld(t, testGate(), func(w *world) {
		names := w.seeded(4)
		time.Sleep(10 * time.Minute)
		for _, name := range names {
			w.crash(name)
		}
		time.Sleep(time.Hour)
		begin := time.Now()
		for _, name := range []string{"d", "b", "c"} {
			w.startJoining(name, AloneAuto)
			time.Sleep(2 * time.Second)
		}
		w.startJoining("e", AloneAuto, "a", "b")
		w.until("somebody runs", 15*time.Second, func() bool { return len(w.runs(begin)) > 0 })
		time.Sleep(10 * time.Minute)
		if n := w.count(wander.NoteCreated, begin) + w.count(wander.NoteRegenerated, begin); n != 1 {
			t.Errorf("%d tokens were made", n)
		}
		if n := w.tokens(begin); n != 1 {
			t.Errorf("runs under %d tokens", n)
		}
		for _, name := range []string{"b", "c", "d", "e"} {
			if n := gateOf(t, w, name).Members; n != 4 {
				t.Errorf("%s sees %d members", name, n)
			}
		}
	})
}

// A list that cannot be read or written is reported once, with the remedy, and the agent continues.
func TestAFleetIsFoundWithoutAMemory(t *testing.T) {
	deep.Only(t, "a long time of many agents")
	inWorld(t, testGate(), func(w *world) {
		var log bytes.Buffer
		w.log = zerolog.New(zerolog.SyncWriter(&log)).Level(zerolog.InfoLevel)
		path := filepath.Join(w.dir, "a", "members.json")
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		w.startAll()
		time.Sleep(10 * time.Minute)
		bubble.Wait()
		if s := log.String(); strings.Count(s, "without a memory of the fleet") != 1 ||
			strings.Count(s, "by --join only") != 1 {
			t.Errorf("it logged %s", s)
		}
		if n := gateOf(t, w, "a").Members; n != 5 {
			t.Errorf("it sees %d members", n)
		}
	})
}

// The list is written once for many changes, and not without a change.
func TestTheListOfMembersIsNotWrittenAtEveryChange(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		path := filepath.Join(w.dir, "a", "members.json")
		writes, last := 0, time.Time{}
		look := func(span time.Duration) int {
			before := writes
			for range int(span / time.Second) {
				time.Sleep(time.Second)
				if info, err := os.Stat(path); err == nil && info.ModTime() != last {
					writes++
					last = info.ModTime()
				}
			}
			return writes - before
		}
		if n := look(time.Minute); n < 1 || n > 3 {
			t.Errorf("%d writes in the first minute", n)
		}
		if n := look(10 * time.Minute); n > 0 {
			t.Errorf("%d writes while nothing changes", n)
		}
	})
}
