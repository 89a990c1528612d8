package agent

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/deep"
	softgate "github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// gateOf returns the status of an agent's gate.
func gateOf(t *testing.T, w *world, name string) control.Gate {
	t.Helper()
	s, err := source{w.agents[name].Agent}.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s.Gates[0]
}

// The holder's status lists the token's guardians: as many as configured, if there are enough members.
func TestHoldersStatusNamesTheGuardians(t *testing.T) {
	gate := testGate()
	gate.Backups, gate.OnLost = 2, softgate.Stop
	inWorld(t, gate, func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		holder := w.untilStarts(2 * gate.MinInterval) // and runs for op, well longer than what follows takes
		held := gateOf(t, w, holder)
		if held.Backups != 2 || held.OnLost != "stop" || len(held.Guardians) != 2 {
			t.Fatalf("backups %d, on_lost %q, guardians %v", held.Backups, held.OnLost, held.Guardians)
		}
		for _, g := range held.Guardians {
			if r, ok := w.agents[g.Name]; !ok || g.Name == holder || g.Member != r.self.String() {
				t.Errorf("%+v keeps a copy of the token of %s", g, holder)
			}
		}
		time.Sleep(gate.Skip) // for a moment
		for _, g := range held.Guardians {
			if s := gateOf(t, w, g.Name); !s.Keeps || s.HolderName != holder {
				t.Errorf("%s keeps a copy of the token of %s, and says that %s holds it", g.Name, holder, s.HolderName)
			}
		}
		for _, name := range w.names() {
			if g := gateOf(t, w, name); name != holder && len(g.Guardians) > 0 {
				t.Errorf("%s names the guardians %v of a token that it does not hold", name, g.Guardians)
			}
		}
	})
}

// A hook that is stopped by its timeout does not count as a measurement of op.
func TestAHookThatTimesOutIsNotMeasured(t *testing.T) {
	gate := testGate()
	gate.Op = 0
	inWorld(t, gate, func(w *world) {
		w.takes = 2 * gate.HookTimeout
		w.startAll()
		begin := time.Now()
		time.Sleep(20 * time.Minute)
		if n := len(w.runs(begin)); n == 0 {
			t.Error("nobody ran")
		}
		for _, name := range w.names() {
			if s := gateOf(t, w, name); s.OpSource != wander.OpAssumed.String() {
				t.Errorf("%s says that op is %v, %s", name, s.Op, s.OpSource)
			}
		}
	})
}

// A lap that takes longer than op implies makes max_interval longer, and the status names the remedy.
func TestTheStatusNamesALapForWhichOpIsTooShort(t *testing.T) {
	deep.AtNight(t, "a long time of many agents")
	gate := testGate()
	gate.Op, gate.HookTimeout, gate.Backups, gate.Walk = time.Second, time.Hour, 2, wander.Sweep
	inWorld(t, gate, func(w *world) {
		w.takes = time.Minute
		w.startAll()
		time.Sleep(30 * time.Minute)
		for _, name := range w.names() {
			s := gateOf(t, w, name)
			lap := time.Duration(s.Lap)
			if lap < 5*time.Minute || lap > 6*time.Minute || time.Duration(s.MaxInterval) != 2*lap {
				t.Errorf("%s says that a lap takes %v, and max_interval is %v", name, lap, time.Duration(s.MaxInterval))
			}
			want := "a lap of the token takes " + lap.Round(time.Second).String() +
				", and op is set too short for that: raise it, or leave it out"
			if s.TooShort != want || s.MaxIntervalRule != "two laps of "+lap.Round(time.Second).String() {
				t.Errorf("%s: %q, %q", name, s.TooShort, s.MaxIntervalRule)
			}
		}
	})
}

// A guardian that has revived the token reports itself as the holder, and since when.
func TestGuardianThatRevivedTheTokenReportsSinceWhen(t *testing.T) {
	gate := testGate()
	gate.Backups = 2
	inWorld(t, gate, func(w *world) {
		w.start("a", AloneWait)
		w.start("b", AloneWait)
		time.Sleep(5 * time.Minute)
		killed, other := w.untilStarts(2*gate.MinInterval), "a"
		if killed == other {
			other = "b"
		}
		if g := gateOf(t, w, killed).Guardians; len(g) != 1 || g[0].Name != other {
			t.Fatalf("the token of %s is guarded by %v", killed, g)
		}
		crash := time.Now()
		w.crash(killed)
		w.until("the guardian takes the token up", 10*time.Second, func() bool {
			return w.count(wander.NoteRevived, crash) > 0
		})
		if g := gateOf(t, w, other); !g.Holding || g.HolderName != other || g.HolderSince.Before(crash) {
			t.Errorf("holding is %v, the holder is %s since %s; the crash was at %s", g.Holding, g.HolderName,
				g.HolderSince, crash)
		}
	})
}

// In a gate with several tokens the status tells where each is.
func TestStatusLocatesTheTokenOfEverySlot(t *testing.T) {
	gate := testGate()
	gate.Slots = 2
	inWorld(t, gate, func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		holders := make(map[int]string)
		w.until("both tokens are held", time.Minute, func() bool {
			clear(holders)
			for _, name := range w.names() {
				g := gateOf(t, w, name)
				if g.Slots != 2 || len(g.Tokens) != 2 || g.Load != 4.0*5/(60*2) {
					t.Fatalf("%d slots, %d tokens, load %v", g.Slots, len(g.Tokens), g.Load)
				}
				for _, slot := range g.Tokens {
					if slot.Holding {
						holders[slot.Slot] = slot.HolderName
					}
				}
			}
			return len(holders) == 2
		})
		if a, b := holders[0], holders[1]; a == "" || b == "" {
			t.Errorf("the tokens are held by %v", holders)
		}
	})
}

// An agent with another secret than its fleet is alone, and both sides warn.
func TestStatusWarnsOfAnotherSecret(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.agents["b"].ownSecret = &wire.Secret{9}
		w.start("a", AloneWait)
		w.start("b", AloneWait)
		time.Sleep(2 * time.Minute)
		for _, name := range []string{"a", "b"} {
			s, err := source{w.agents[name].Agent}.Status(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, warning := range s.Warnings {
				texts = append(texts, warning.Text)
				if age := time.Since(warning.Last); warning.Last.IsZero() || age > 2*time.Minute {
					t.Errorf("%s: %q is %v old", name, warning.Text, age)
				}
			}
			all := strings.Join(texts, "; ")
			if !strings.Contains(all, "give all members of a fleet the same --secret-file") ||
				!strings.Contains(all, "cannot join 10.0.0.") {
				t.Errorf("%s warns of %q", name, all)
			}
		}
	})
}

// A warning of another secret ends two minutes after its last sign.
func TestAWarningOfAnotherSecretEndsWithItsCause(t *testing.T) {
	warned := func(w *world) bool {
		s, err := source{w.agents["a"].Agent}.Status(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(s.Warnings, func(x control.Warning) bool {
			return strings.Contains(x.Text, "--secret-file")
		})
	}
	inWorld(t, testGate(), func(w *world) {
		w.agents["b"].ownSecret = &wire.Secret{9}
		w.start("a", AloneWait)
		w.startJoining("b", AloneWait, "a")
		for range 30 { // as long as the cause lasts
			time.Sleep(time.Minute)
			if !warned(w) {
				t.Fatal("there is another secret, and no warning")
			}
		}
		if err := w.leave("b"); err != nil {
			t.Fatal(err)
		}
		w.agents["b"].ownSecret = nil
		w.startJoining("b", AloneWait, "a")
		ended := time.Now()
		w.until("the warning ends", time.Hour, func() bool { return !warned(w) })
		if took := time.Since(ended); took > suspectFor+signEvery {
			t.Errorf("it ended %s after its cause", took)
		}
	})

	d := newDrops(zerolog.Nop())
	for _, why := range secretDrops() {
		d.add(why, netip.AddrPort{})
	}
	d.add(wire.DropVersion, netip.AddrPort{})
	if now, later := d.warnings(time.Now()), d.warnings(time.Now().Add(suspectFor)); len(now) != 4 || len(later) != 1 {
		t.Errorf("now %+v, later %+v", now, later)
	}
}

// signEvery is the precision with which the time of foreign gossip is known.
const signEvery = 10 * time.Second

// Readers of JSON round numbers above 2⁵³, and a revived token has one: beside each number are its digits.
func TestEachNumberHasItsDigitsBeside(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.start("a", AloneRun)
		w.untilStarts(2 * time.Minute)
		g := gateOf(t, w, "a")
		runs := w.history("a")
		now, err := source{w.agents["a"].Agent}.Now(context.Background())
		if err != nil || len(now.Tokens) != 1 || len(runs) != 1 {
			t.Fatalf("%+v, %+v, %v", runs, now, err)
		}
		want := strconv.FormatUint(g.Seq, 10)
		if g.Seq == 0 || g.SeqText != want || now.Tokens[0].SeqText != want || runs[0].SeqText != want {
			t.Errorf("number %s: the status says %q, who has it %q, the history %q", want, g.SeqText,
				now.Tokens[0].SeqText, runs[0].SeqText)
		}
	})
}

// A gate on demand knows its last run after a restart, although no interval follows it.
func TestAGateOnDemandKnowsItsLastRunAfterARestart(t *testing.T) {
	inStrictWorld(t, func(w *world) {
		w.strictly = strictGates()["tree"]
		w.start("a", AloneWait)
		w.until("it takes part", time.Minute, func() bool { return len(w.participants()) == 1 })
		begun := time.Now()
		w.runsOn("a")
		if err := w.leave("a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		w.start("a", AloneWait)
		if g := w.strict("a"); g.LastRun.Sub(begun).Abs() > time.Minute {
			t.Errorf("the last run was %s, and it says %s", begun, g.LastRun)
		}
	}, "a")
}
