package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
)

// A wall clock that jumps forward across a restart makes no member due: not within one boot, and not after a boot with
// a clock that is not set yet, with a clock that is never set, or with one that was corrected while the agent ran.
func TestAClockThatJumpsAcrossARestartMakesNobodyDue(t *testing.T) {
	deep.Only(t, "a long time of many agents")
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
		{
			name: "synchronised in the next boot", first: year, then: year, next: 20 * year, synced: true,
			reboots: true,
			due:     time.Hour,
		},
		{name: "unset, then set by hand", first: -30 * year, then: -30 * year, reboots: true, due: time.Hour},
		{
			name: "while the agent ran, saved by the host", first: year, then: 20 * year, next: 20 * year,
			reboots: true,
			due:     40 * time.Minute,
		},
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
