package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A bad release stops at the first host that is not healthy after it, here the third of six: nobody starts in the soak
// of another one, the brake stops the rest, and the history of the fleet shows it.
func TestABadReleaseStopsAtTheFirstHostThatIsNotHealthy(t *testing.T) {
	t.Parallel()
	const soak = 2 * time.Second
	f := newFleet(t, 6)
	after := filepath.Join(f.dir, "healthy.sh")
	if err := os.WriteFile(after, []byte(`#!/bin/sh
[ "$(grep -c '^start' "$JOURNAL")" -lt 3 ] && exit 0
echo "$WANDERD_NAME answers 500"
exit 4
`), 0o700); err != nil {
		t.Fatal(err)
	}
	f.args = []string{
		"--trust-hook", "--skip", "100ms", "--min-interval", "1h", "--soak", soak.String(), "--after", after,
		"--after-every", "300ms", "--stop-after", "1",
	}
	f.first()
	for _, n := range f.nodes[1:] {
		n.start()
	}
	until(t, "all know of the pause", func() bool {
		for _, n := range f.nodes {
			if s, ok := n.status(); !ok || s.Gates[0].Paused == nil {
				return false
			}
		}
		return true
	})
	time.Sleep(2 * soak) // Nobody may start any more.
	runs := f.runs()
	if len(runs) != 3 || f.beside > 0 {
		t.Fatalf("%d runs, %d beside another one", len(runs), f.beside)
	}
	for i := range runs[1:] {
		if apart := runs[i+1].start.Sub(runs[i].end); apart < soak {
			t.Errorf("%s starts %v after the end of %s", runs[i+1].name, apart, runs[i].name)
		}
	}
	bad := runs[2].name
	said := "unhealthy: after said: exit status 4: " + bad + " answers 500"
	for _, n := range f.nodes {
		s, ok := n.status()
		if p := s.Gates[0].Paused; !ok || p == nil || p.Reason != "1 hosts failed in a row: "+bad+" (exit 4)" {
			t.Errorf("%s says %+v", n.name, p)
		}
		if n.name == bad && s.Gates[0].LastExit != said {
			t.Errorf("its last run: %q", s.Gates[0].LastExit)
		}
	}
	history := exec.Command(program(t), "history", "--fleet", "--failed", "--state-dir", f.nodes[0].state)
	out, err := history.CombinedOutput()
	if err != nil || strings.Count(string(out), said) != 1 {
		t.Errorf("the failed runs of the fleet: %v\n%s", err, out)
	}
}
