package agent

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/wander"
)

// copyState copies the state directory of one agent to that of another.
func (w *world) copyState(from, to string) {
	w.t.Helper()
	if err := os.CopyFS(filepath.Join(w.dir, to), os.DirFS(filepath.Join(w.dir, from))); err != nil {
		w.t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{"": 0o700, "node_key": 0o600} {
		if err := os.Chmod(filepath.Join(w.dir, to, path), mode); err != nil {
			w.t.Fatal(err)
		}
	}
}

// An agent in a copied state directory stops, even if it started first. The original takes its turns all the time.
func TestTheCopyOfAStateDirectoryStops(t *testing.T) {
	deep.AtNight(t, "a long time of many agents")
	for _, copyFirst := range []bool{false, true} {
		gate := testGate()
		gate.Backups = 2 // A token may be lost with the copy.
		inWorld(t, gate, func(w *world) {
			w.start("a", AloneWait)
			w.start("b", AloneWait)
			w.start("c", AloneWait)
			time.Sleep(5 * time.Minute)
			if copyFirst {
				w.crash("a")
			}
			w.copyState("a", "d")
			w.start("d", AloneWait)
			if copyFirst {
				time.Sleep(5 * time.Minute)
				w.start("a", AloneWait)
			}
			again := time.Now()
			w.until("the copy stops", time.Minute, func() bool { return len(w.agents["d"].ended) == 1 })
			err := <-w.agents["d"].ended
			if is, ok := errors.AsType[*CopyError](err); !ok || is.Path != filepath.Join(w.dir, "d") {
				t.Errorf("it ends with %v", err)
			}
			time.Sleep(10 * time.Minute)
			for _, name := range []string{"a", "b", "c"} {
				n := 0
				for _, r := range w.runs(again) {
					if r.Name == name {
						n++
					}
				}
				if n < 8 {
					t.Errorf("%s ran %d times in ten minutes", name, n)
				}
			}
			if n := w.count(wander.NoteCreated, again); n != 0 {
				t.Errorf("%d tokens were created", n)
			}
			w.agents["d"].ended <- err
		})
	}
}
