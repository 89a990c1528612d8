package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// rollout is a fleet of ten with two canaries, m1 and m2. A host needs a run until it has the release in the file; a
// release that is bad fails.
type rollout struct {
	*fleet
	receiver *receiver
}

const rolloutSoak = 2 * time.Second

func newRollout(t *testing.T) *rollout {
	t.Helper()
	r := &rollout{newFleet(t, 10), newReceiver(t)}
	r.hook(strings.TrimSuffix(hookScript, "\n") + `
case $(cat "$JOURNAL.release") in bad*) exit 3 ;; esac
cp "$JOURNAL.release" "$JOURNAL.on.$WANDERD_NAME"
`)
	ready := filepath.Join(r.dir, "ready.sh")
	if err := os.WriteFile(ready, []byte(`#!/bin/sh
cmp -s "$JOURNAL.release" "$JOURNAL.on.$WANDERD_NAME" && exit 75
exit 0
`), 0o700); err != nil {
		t.Fatal(err)
	}
	r.release("none")
	for _, n := range r.nodes {
		if err := os.WriteFile(r.journal+".on."+n.name, []byte("none"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.args = []string{
		"--trust-hook", "--skip", "100ms", "--min-interval", "2s", "--soak", rolloutSoak.String(), "--ready", ready,
		"--ready-timeout", "2s", "--retry-after", "1s", "--max-down", "2", "--first", "m[12]",
		"--webhook", r.receiver.URL,
	}
	r.fleet.start()
	until(t, "all see all", func() bool {
		return !slices.ContainsFunc(r.nodes, func(n *node) bool {
			s, ok := n.status()
			return !ok || s.Gates[0].Members != len(r.nodes)
		})
	})
	return r
}

// release makes all hosts need a run.
func (r *rollout) release(what string) {
	r.t.Helper()
	if err := os.WriteFile(r.journal+".release", []byte(what), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// have waits until so many hosts have the good release.
func (r *rollout) have(hosts int) {
	r.t.Helper()
	until(r.t, fmt.Sprintf("%d hosts have the good release", hosts), func() bool {
		n := 0
		for _, host := range r.nodes {
			if text, err := os.ReadFile(r.journal + ".on." + host.name); err == nil && string(text) == "good" {
				n++
			}
		}
		return n >= hosts
	})
}

// With one host dead, and two agents that are killed on the way, an upgrade goes through: the canaries first, nobody in
// another one's soak. A bad release stops at the first canary. The history of the fleet shows it, and the receiver has
// got each event of each host.
func TestAReleaseGoesFromTheCanariesToTheRestAndABadOneStopsThere(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	r.nodes[9].kill()
	live := r.nodes[:9]
	until(t, "the dead host is missed", func() bool {
		s, ok := live[8].status()
		return ok && s.Gates[0].Members == len(live)
	})
	r.release("good")
	r.have(2)
	r.have(4)
	for range 2 {
		at := -1
		until(t, "one that is no canary runs", func() bool {
			at = slices.IndexFunc(live[2:], func(n *node) bool { s, ok := n.status(); return ok && s.Gates[0].Running })
			return at >= 0
		})
		n := live[2+at]
		n.kill()
		n.start()
		until(t, n.name+" is back", func() bool { s, ok := n.status(); return ok && s.Gates[0].Members == len(live) })
	}
	r.have(7)
	r.have(9)
	runs := r.runs()
	for i, run := range runs {
		isCanary := run.name == "m1" || run.name == "m2"
		if isCanary != (i < 2) || run.name == "m10" || by(runs, "m1") != 1 {
			t.Errorf("run %d is on %s", i+1, run.name)
		}
		if i > 0 && !runs[i-1].end.IsZero() && i < 4 && run.start.Sub(runs[i-1].end) < rolloutSoak {
			t.Errorf("%s starts in the soak of %s", run.name, runs[i-1].name)
		}
	}
	if r.beside > 0 {
		t.Errorf("%d runs beside another one", r.beside)
	}
	// Nobody needs the present release any more when the next one comes.
	until(t, "nobody runs", func() bool {
		return !slices.ContainsFunc(live, func(n *node) bool { s, ok := n.status(); return !ok || s.Gates[0].Running })
	})
	r.release("bad")
	until(t, "all know of the pause", func() bool {
		return !slices.ContainsFunc(live, func(n *node) bool {
			s, ok := n.status()
			return !ok || s.Gates[0].Paused == nil
		})
	})
	time.Sleep(2 * rolloutSoak) // Nobody may start any more.
	after := r.runs()[len(runs):]
	if len(after) != 1 || after[0].name != "m1" && after[0].name != "m2" {
		t.Fatalf("the bad release runs on %v", after)
	}
	bad := after[0].name
	want := fmt.Sprintf("stage 1 (m[12]): %s failed (exit 3)", bad)
	for _, n := range live {
		s, _ := n.status()
		if p := s.Gates[0].Paused; p.By != "first@"+bad || p.Reason != want {
			t.Errorf("%s: %+v", n.name, p)
		}
	}
	history := live[4].prints("history", "--fleet")
	if !strings.Contains(history, bad+", stage 1 (m[12])") || !strings.Contains(history, "m8, stage 2 (the rest)") {
		t.Errorf("the history of the fleet:\n%s", history)
	}
	twice := 0
	for _, n := range live {
		until(t, "all events of "+n.name+" are told", func() bool {
			told, _ := r.receiver.of(n.name)
			return len(unmatched(n, told)) == 0
		})
		_, again := r.receiver.of(n.name)
		twice += again
	}
	if twice > 2 {
		t.Errorf("%d events are told twice", twice)
	}
}
