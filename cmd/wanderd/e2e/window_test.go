package e2e

import (
	"strings"
	"testing"
	"time"
)

// A run that is ordered whatever the windows say begins in a soft gate and in a strict one. The history names who has
// ordered it.
func TestAnOrderedRunNeedsNoWindow(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"wander", "call", "tree"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			later := time.Now().UTC().Add(6 * time.Hour)
			f := newFleet(t, 3, "--policy", policy, "--min-interval", "1s",
				"--window", later.Format("15:04")+"-"+later.Add(time.Hour).Format("15:04")+" UTC")
			if policy == "tree" {
				f.args = append(f.args, "--roster", "m1,m2,m3")
			}
			f.start()
			n := f.nodes[1]
			n.logged("peers changed")
			n.answers()
			n.does("run", "--outside-window", "--wait")
			if runs := f.runs(); len(runs) != 1 || runs[0].name != n.name {
				t.Errorf("%+v", runs)
			}
			if text := n.prints("history"); !strings.Contains(text, "outside of the windows by order of ") {
				t.Error(text)
			}
			if s, ok := n.status(); !ok || s.Gates[0].OutsideWindow != "" || len(s.Gates[0].Windows) != 1 {
				t.Errorf("%+v", s.Gates)
			}
		})
	}
}
