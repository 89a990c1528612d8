package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// The cases are the clocks of an agent before and after its restart.
func TestTheTimeSinceTheLastRunAcrossARestart(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const year = 365 * 24 * time.Hour
	for _, tc := range []struct {
		name string
		boot clock.Boot
		r    statedir.Record
		want time.Duration
		sure bool
	}{
		{
			"one boot, whatever the wall clock did",
			clock.Boot{ID: "a", Up: time.Hour},
			statedir.Record{LastRun: ago(year), Boot: "a", SinceBoot: 50 * time.Minute},
			10 * time.Minute, true,
		},
		{
			"one boot, the wall clock was set back",
			clock.Boot{ID: "a", Up: time.Hour, Synced: true},
			statedir.Record{LastRun: ago(-year), Boot: "a", SinceBoot: 50 * time.Minute},
			10 * time.Minute, true,
		},
		{
			"another boot, the clock was right and is",
			clock.Boot{ID: "b", Up: time.Hour, Synced: true},
			statedir.Record{LastRun: ago(5 * time.Hour), Boot: "a", Synced: true},
			5 * time.Hour, true,
		},
		{
			"another boot, the clock was right and may be",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: ago(5 * time.Hour), Boot: "a", Synced: true},
			5 * time.Hour, true,
		},
		{
			"another boot, nobody sets the clock",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: ago(5 * time.Hour), Boot: "a"},
			5 * time.Hour, true,
		},
		{
			"another boot, the clock was set right since",
			clock.Boot{ID: "b", Up: time.Hour, Synced: true},
			statedir.Record{LastRun: ago(year), Boot: "a"},
			time.Hour, false,
		},
		{
			"another boot, the clock was unset",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: time.Unix(600, 0), Boot: "a"},
			time.Hour, false,
		},
		{
			"another boot, the clock was set back",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: ago(-year), Boot: "a", Synced: true},
			time.Hour, false,
		},
		{
			"another boot, the clock is behind",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: ago(time.Minute), Boot: "a", Synced: true},
			time.Hour, false,
		},
		{
			"a record of before",
			clock.Boot{ID: "b", Up: time.Hour, Synced: true},
			statedir.Record{LastRun: ago(time.Minute)},
			time.Minute, true,
		},
		{
			"a record of before, with an unset clock",
			clock.Boot{ID: "b", Up: time.Hour, Synced: true},
			statedir.Record{LastRun: time.Unix(600, 0)},
			0, false,
		},
		{
			"a record of before, from the future",
			clock.Boot{ID: "b", Up: time.Hour},
			statedir.Record{LastRun: ago(-year)},
			0, false,
		},
		{
			"a system without boots",
			clock.Boot{},
			statedir.Record{LastRun: ago(time.Minute), Boot: "a"},
			time.Minute, true,
		},
	} {
		if got, sure := lastRun(now, &tc.boot, &tc.r); got != tc.want || sure != tc.sure {
			t.Errorf("%s: %s, sure: %v; want %s, %v", tc.name, got, sure, tc.want, tc.sure)
		}
	}
}

// A wall clock that jumps forward across a restart makes no member due: not within one boot, and not after a boot with an unset clock,
// with a clock that nobody sets, or with one that was corrected while the agent ran.
func TestAClockThatJumpsAcrossARestartMakesNobodyDue(t *testing.T) {
	notShort(t)
	const year = 365 * 24 * time.Hour
	for _, tc := range []struct {
		name string
		// The clock's offset when the agent starts, while it runs, and when it starts again.
		first, then, next time.Duration
		synced, reboots   bool
		// The time from the second start to the first run after it.
		due time.Duration
	}{
		{name: "no jump", due: 40 * time.Minute},
		{name: "no jump, a reboot", reboots: true, due: 40 * time.Minute},
		{name: "within one boot", next: 20 * year, due: 40 * time.Minute},
		{name: "back, within one boot", first: 20 * year, then: 20 * year, due: 40 * time.Minute},
		{name: "synchronised in the next boot", first: year, then: year, next: 20 * year, synced: true, reboots: true, due: time.Hour},
		{name: "unset, then set by hand", first: -30 * year, then: -30 * year, reboots: true, due: time.Hour},
		{name: "while the agent ran, saved by the host", first: year, then: 20 * year, next: 20 * year, reboots: true, due: 40 * time.Minute},
		{name: "back in the next boot", first: 20 * year, then: 20 * year, reboots: true, due: time.Hour},
	} {
		t.Run(tc.name, func(t *testing.T) {
			gate := testGate()
			gate.MinInterval = time.Hour
			inWorld(t, gate, func(w *world) {
				r := w.agents["a"]
				r.ahead = tc.first
				w.start("a", AloneRun)
				time.Sleep(5 * time.Minute)
				w.set(func() { r.ahead = tc.then })
				time.Sleep(15 * time.Minute)
				w.crash("a")
				r.ahead, r.synced = tc.next, tc.synced
				if tc.reboots {
					r.boots, r.bootedAt = r.boots+1, time.Now()
				}
				// Count them, because their times are by the wall clock.
				before := len(w.runs(time.Time{}))
				w.start("a", AloneRun)
				time.Sleep(tc.due - time.Second)
				if n := len(w.runs(time.Time{})) - before; n != 0 {
					t.Errorf("%d runs within %s", n, tc.due)
				}
				time.Sleep(2 * time.Second)
				if n := len(w.runs(time.Time{})) - before; n != 1 {
					t.Errorf("%d runs after %s", n, tc.due)
				}
			})
		})
	}
}

// If a host finds a time server after a run, its agent records that, so that the next boot can trust the wall clock.
func TestASynchronisedClockIsRecorded(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.start("a", AloneRun)
		time.Sleep(15 * time.Second)
		record := func() string {
			text, err := os.ReadFile(filepath.Join(w.dir, "a", "gate-default.json"))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if strings.Contains(record(), `"synced":true`) {
			t.Errorf("recorded before: %s", record())
		}
		w.set(func() { w.agents["a"].synced = true })
		time.Sleep(2 * idleWake)
		if !strings.Contains(record(), `"synced":true`) {
			t.Errorf("recorded: %s", record())
		}
	})
}

func TestWhatAnotherProtocolHasSavedIsForgotten(t *testing.T) {
	g := &gate{family: wander.Family(), log: zerolog.Nop()}
	memo := wander.Memo{Token: wire.TokenID{Birth: 1, Random: 2}}.Bytes()
	for _, tc := range []struct {
		protocol string
		version  uint8
		kept     bool
	}{
		{g.family.Name, g.family.Version, true},
		{g.family.Name, g.family.Version + 1, false},
		{"ring", 1, false},
	} {
		s := policy.State{Seq: 7, HasRun: true, LastRun: 5, Memo: memo}
		g.forgetMemo(time.Now().UnixNano(), true, &statedir.Record{Protocol: tc.protocol, ProtocolVersion: tc.version}, &s)
		if (s.Memo == memo) != tc.kept || s.Seq != 7 || !s.HasRun || s.LastRun != 5 {
			t.Errorf("of %s %d it keeps %+v", tc.protocol, tc.version, s)
		}
	}
}
