package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/soft"
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

// A release kills its host's agent in its soak, with kill -9, so that nobody says so; or it stops it. Another member
// has the token, keeps it for the rest of the soak, and says why; then the next host runs.
func TestNobodyStartsInTheSoakOfAHostWhoseAgentIsGone(t *testing.T) {
	t.Parallel()
	for name, goes := range map[string]func(n *node){
		"killed": (*node).kill,
		"stopped": func(n *node) {
			n.signal(syscall.SIGTERM)
			n.exits()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goesInItsSoak(t, goes)
		})
	}
}

func goesInItsSoak(t *testing.T, goes func(n *node)) {
	t.Helper()
	const soak = 6 * time.Second
	f := newFleet(t, 4)
	f.args = []string{"--trust-hook", "--skip", "100ms", "--min-interval", "1h", "--soak", soak.String()}
	f.first()
	f.nodes[0].logged("the grant stays here until this host was looked after")
	for _, n := range f.nodes[1:] {
		n.start()
	}
	until(t, "the first member sees all others", func() bool { return f.nodes[0].sees(4) })
	until(t, "another host soaks", func() bool {
		runs := f.runs()
		return len(runs) > 1 && !runs[1].end.IsZero()
	})
	i := slices.IndexFunc(f.nodes, func(n *node) bool { return n.name == f.runs()[1].name })
	gone := f.nodes[i]
	gone.logged("the grant stays here until this host was looked after")
	goes(gone)
	why := ""
	until(t, "a member keeps the token unused", func() bool {
		for _, n := range f.nodes {
			if n == gone {
				continue
			}
			if s, ok := n.status(); ok && s.Gates[0].NotRunning == soft.WhyUnused {
				why = n.told()
			}
		}
		return why != "" || len(f.runs()) > 2
	})
	if !strings.Contains(why, "soak_until") {
		t.Errorf("its status:\n%s", why)
	}
	until(t, "the next host runs", func() bool { return len(f.runs()) > 2 })
	runs := f.runs()
	if apart := runs[2].start.Sub(runs[1].end); apart < soak || f.beside > 0 {
		t.Errorf("%s starts %v after the end of %s, and %d ran beside another one", runs[2].name, apart, runs[1].name,
			f.beside)
	}
}
