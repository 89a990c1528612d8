package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

func askStatus(t *testing.T, r *resident) control.Status {
	t.Helper()
	s, err := source{r.Agent}.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// An agent whose state directory is deleted warns, and writes key and record again. After a restart it is the same
// member, and does not run its hook within min_interval.
func TestADeletedStateDirectoryIsRestored(t *testing.T) {
	gate := testGate()
	gate.MinInterval = time.Hour
	inWorld(t, gate, func(w *world) {
		a := w.agents["a"]
		w.start("a", AloneRun)
		time.Sleep(time.Minute - time.Second)
		before := a.self
		if s := askStatus(t, a); len(s.Warnings) != 0 {
			t.Errorf("before: %+v", s.Warnings)
		}
		// In one step, because the agent may write at any time.
		if err := os.Rename(filepath.Join(w.dir, "a"), filepath.Join(w.dir, "gone")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * lookEvery)
		var text string
		for _, warning := range askStatus(t, a).Warnings {
			text += warning.Text
		}
		if !strings.Contains(text, "deleted while the agent ran") {
			t.Errorf("status says %q", text)
		}
		w.crash("a")
		restart := time.Now()
		w.start("a", AloneRun)
		if a.self != before {
			t.Errorf("it is %v, and was %v", a.self, before)
		}
		time.Sleep(58*time.Minute + time.Second)
		if n := len(w.runs(restart)); n != 0 {
			t.Errorf("%d runs within min_interval of the last", n)
		}
		time.Sleep(2 * time.Minute)
		if n := len(w.runs(restart)); n != 1 {
			t.Errorf("%d runs after min_interval", n)
		}
	})
}

// A directory that cannot be restored is reported.
func TestAStateDirectoryThatCannotBeRestoredIsReported(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.start("a", AloneRun)
		time.Sleep(time.Second)
		home := filepath.Join(w.dir, "a")
		if err := os.Rename(home, home+".gone"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(home, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * lookEvery)
		s := askStatus(t, w.agents["a"])
		if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Text, "--state-dir") || s.Warnings[0].Count < 2 {
			t.Errorf("status says %+v", s.Warnings)
		}
	})
}
