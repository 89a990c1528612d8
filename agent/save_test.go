package agent

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/lab/bubble"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
)

// guardedGate is a gate whose token has two guardians that wait for a second.
func guardedGate() soft {
	gate := testGate()
	gate.Backups = 2
	return gate
}

// One host's disk takes seconds for a save. Its runs are denied, and no guardian suspects it meanwhile: no two hooks
// run at once, no token is revived, and the others take their turns.
func TestASlowDiskNeverLetsTwoRun(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	inWorld(t, guardedGate(), func(w *world) {
		var log bytes.Buffer
		w.log = zerolog.New(zerolog.SyncWriter(&log)).Level(zerolog.WarnLevel)
		w.startAll()
		time.Sleep(5 * time.Minute)
		w.slowDisk(5 * time.Second)
		slow := time.Now()
		time.Sleep(10 * time.Minute)
		if d := w.overlap(slow); d != 0 {
			t.Errorf("two at once for %s", d)
		}
		runs := map[string]int{}
		for _, r := range w.runs(slow) {
			runs[r.Name]++
		}
		if runs["a"] != 0 || len(runs) != 4 {
			t.Errorf("runs: %v", runs)
		}
		for _, n := range []policy.Note{
			wander.NoteRevived, wander.NoteRegenerated, wander.NoteCreated, guardian.NoteDoubting,
		} {
			if c := w.count(n, slow); c > 0 {
				t.Errorf("%d times %s", c, wander.Descriptor().Notes.Of(n).Name)
			}
		}
		if w.count(wander.NoteDenied, slow) == 0 {
			t.Error("no run was denied")
		}
		w.until("the status says so", time.Minute, func() bool { return !gateOf(t, w, "a").SavingSince.IsZero() })
		bubble.Wait()
		// The log has one line a minute, at the end of a save or at a run that is denied, whichever comes first.
		slowly := strings.Count(log.String(), "the disk is slow")
		if n := slowly + strings.Count(log.String(), "the disk of the state directory is slow or hangs"); n < 9 ||
			n > 11 {
			t.Errorf("in ten minutes %d lines tell of it:\n%s", n, log.String())
		}
		// When the disk recovers, the member runs.
		w.slowDisk(0)
		w.until("a runs again", 5*time.Minute, func() bool { return w.agents["a"].isRunning(w) })
	})
}

// A disk that hangs for ever delays neither the token nor the agent's stop.
func TestADiskThatHangsDelaysNeitherTheTokenNorTheStop(t *testing.T) {
	deep.AtNight(t, "a quarter of an hour of five agents, of which one tries to save all the time")
	inWorld(t, guardedGate(), func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		w.slowDisk(time.Hour)
		hangs := time.Now()
		time.Sleep(10 * time.Minute)
		if d := w.overlap(hangs); d != 0 || w.count(wander.NoteRevived, hangs) > 0 {
			t.Errorf("two at once for %s; %d tokens were revived", d, w.count(wander.NoteRevived, hangs))
		}
		if n := len(w.runs(hangs)); n < 32 {
			t.Errorf("the four others ran %d times in ten minutes", n)
		}
		stop := time.Now()
		if err := w.leave("a"); err == nil {
			t.Error("nobody was told that the state could not be saved")
		}
		if took := time.Since(stop); took > 20*time.Second {
			t.Errorf("the stop took %s", took)
		}
		time.Sleep(time.Hour) // The disk finishes at last.
	})
}

// slowDisk sets how long a save on the disk of host a takes from now on.
func (w *world) slowDisk(takes time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.saves["a"] = takes
}

func (r *resident) isRunning(w *world) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return r.running > 0
}
