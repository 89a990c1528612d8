package e2e

import (
	"flag"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"
)

var watchFor = flag.Duration("watch", 8*time.Second,
	"how long the fleet of five is watched; its table is printed with -v")

// Five processes take turns: none runs twice within min_interval, and none while another one does. Regeneration is out
// of reach here, and no member is a guardian of the token, so that a busy machine cannot make a second one.
func TestFiveProcessesTakeTurns(t *testing.T) {
	t.Parallel()
	const minInterval = 2 * time.Second
	f := newFleet(t, 5, "--skip", "50ms", "--op", "200ms", "--min-interval", "2s", "--max-interval", "1h", "--backups",
		"0")
	f.start()
	until(t, "everybody has run", func() bool {
		runs := f.runs()
		return !slices.ContainsFunc(f.nodes, func(n *node) bool { return by(runs, n.name) == 0 })
	})
	time.Sleep(*watchFor)
	for _, n := range f.nodes {
		n.signal(syscall.SIGTERM)
	}
	for _, n := range f.nodes {
		if code := n.exits(); code != 0 {
			t.Errorf("%s exited %d after SIGTERM", n.name, code)
		}
	}
	runs := f.runs()
	var overlap time.Duration
	for i, r := range runs[1:] {
		if before := runs[i]; r.start.Before(before.end) {
			overlap += before.end.Sub(r.start)
		}
		if r.seq <= runs[i].seq {
			t.Errorf("fencing number %d after %d", r.seq, runs[i].seq)
		}
	}
	if overlap > 0 {
		t.Errorf("two at once for %s", overlap)
	}
	for _, n := range f.nodes {
		var starts []time.Time
		for _, r := range runs {
			if r.name == n.name {
				starts = append(starts, r.start)
			}
		}
		var intervals []time.Duration
		for i := range starts[1:] {
			intervals = append(intervals, starts[i+1].Sub(starts[i]))
		}
		if len(intervals) == 0 {
			t.Errorf("%s ran only once", n.name)
			continue
		}
		slices.Sort(intervals)
		// The hook's own clock starts later than the grant, by the time that it takes to start a process.
		if shortest := intervals[0]; shortest < minInterval-500*time.Millisecond {
			t.Errorf("%s ran again after %s", n.name, shortest)
		}
		t.Logf("%s: %d runs, interval min %s, median %s, max %s", n.name, len(starts),
			intervals[0].Round(time.Millisecond), intervals[len(intervals)/2].Round(time.Millisecond),
			intervals[len(intervals)-1].Round(time.Millisecond))
	}
	t.Logf("%d runs in all, two at once for %s", len(runs), overlap)
}

// A fleet whose members all start in the same moment makes one token, not one each.
func TestAColdStartCreatesOneToken(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 5, "--skip", "50ms", "--op", "200ms", "--min-interval", "2s", "--max-interval", "1h")
	f.start()
	until(t, "everybody has run", func() bool {
		runs := f.runs()
		return !slices.ContainsFunc(f.nodes, func(n *node) bool { return by(runs, n.name) == 0 })
	})
	created := uint64(0)
	for _, n := range f.nodes {
		if s, ok := n.status(); ok {
			created += s.Gates[0].Notes["minted"] + s.Gates[0].Notes["regenerated"]
		}
	}
	if created != 1 {
		t.Errorf("%d tokens were made", created)
	}
}

// kill -9 of the holder in mid-hook: its hook dies with it, and after max_interval the others have a token again.
func TestKilledHolderIsReplaced(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--skip", "50ms", "--op", "200ms", "--min-interval", "1s", "--max-interval", "4s")
	f.first("WORK=600")
	f.nodes[1].start()
	f.nodes[2].start()
	f.nodes[1].logged(`"members":3`)
	holder := f.runs()[0]
	f.nodes[0].kill()
	until(t, "the holder's hook is gone", func() bool { return syscall.Kill(holder.pid, 0) != nil })
	until(t, "the others run", func() bool {
		runs := f.runs()
		return by(runs, "m2") > 0 && by(runs, "m3") > 0
	})
}

// A holder that is stopped for longer than max_interval and then goes on: two tokens for a moment, one in the end.
func TestStoppedHolderGoesOn(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--skip", "50ms", "--op", "200ms", "--min-interval", "500ms", "--max-interval", "3s")
	f.first("WORK=1")
	f.nodes[1].start()
	f.nodes[2].start()
	f.nodes[1].logged(`"members":3`)
	until(t, "the first member holds the token", func() bool {
		s, ok := f.nodes[0].status()
		return ok && s.Gates[0].Running
	})
	f.nodes[0].signal(syscall.SIGSTOP)
	before := len(f.runs())
	until(t, "the others regenerate the token and run", func() bool { return len(f.runs()) > before+2 })
	f.nodes[0].signal(syscall.SIGCONT)
	until(t, "everybody runs again, under one token", func() bool {
		tokens := make(map[string]bool)
		for _, n := range f.nodes {
			if s, ok := n.status(); ok {
				tokens[s.Gates[0].Token] = true
			}
		}
		return len(tokens) == 1
	})
	after := by(f.runs(), "m1")
	until(t, "the stopped member runs again", func() bool { return by(f.runs(), "m1") > after })
}

// A restart within min_interval does not run the hook again.
func TestRestartWithinMinIntervalDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "--skip", "50ms", "--op", "200ms", "--min-interval", "1h")
	n := f.nodes[0]
	n.start()
	until(t, "it runs", func() bool { return len(f.runs()) == 1 })
	n.kill()
	if err := os.Truncate(n.log, 0); err != nil {
		t.Fatal(err)
	}
	n.start()
	n.logged(`"note":"alone"`)
	if got := len(f.runs()); got != 1 {
		t.Errorf("%d runs within min_interval", got)
	}
	if s, ok := n.status(); !ok || s.Gates[0].NotRunning == "" || time.Until(s.Gates[0].NextRun) < 30*time.Minute {
		t.Errorf("status after the restart: %+v", s)
	}
}

// SIGTERM hands the token on: the others run without any regeneration.
func TestStopHandsTheTokenOn(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, "--skip", "50ms", "--op", "200ms", "--min-interval", "1s", "--max-interval", "1h")
	f.first("WORK=600")
	f.nodes[1].start()
	f.nodes[0].logged(`"members":2`)
	f.nodes[0].signal(syscall.SIGTERM)
	if code := f.nodes[0].exits(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	until(t, "the other one runs", func() bool { return by(f.runs(), "m2") > 0 })
}
