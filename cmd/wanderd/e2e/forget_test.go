package e2e

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A host that is gone for good holds the others up, by max_down, until somebody forgets it on one of them. Nobody who
// is alive can be forgotten, and a host that comes back counts again.
func TestAHostThatIsGoneForGoodIsForgotten(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3)
	f.args = []string{"--trust-hook", "--skip", "100ms", "--min-interval", "2s", "--max-down", "1"}
	f.first()
	for _, n := range f.nodes[1:] {
		n.start()
	}
	here, there, gone := f.nodes[0], f.nodes[1], f.nodes[2]
	asks := func(n *node, args ...string) string {
		out, _ := exec.Command(program(t), append(args, "--state-dir", n.state)...).CombinedOutput()
		return string(out)
	}
	until(t, "all run", func() bool { return by(f.runs(), gone.name) > 0 })
	if said := asks(here, "members", "forget", gone.name); !strings.Contains(said, "is alive") ||
		!strings.Contains(said, "stop its agent first") {
		t.Errorf("a member that is alive: %s", said)
	}
	gone.kill()
	until(t, "the others wait for it", func() bool {
		s, ok := there.status()
		return ok && strings.Contains(s.Gates[0].NotRunning, "too many are down") &&
			strings.Contains(s.Gates[0].NotRunning, gone.name+" (failed)")
	})
	time.Sleep(3 * time.Second) // A run that had begun before that is over.
	before := len(f.runs())
	time.Sleep(3 * time.Second)
	if n := len(f.runs()) - before; n > 0 {
		t.Errorf("%d runs while %s is down", n, gone.name)
	}
	if said := asks(here, "members", "forget", gone.name); !strings.Contains(said, "is forgotten on all hosts") {
		t.Fatalf("it is not forgotten: %s", said)
	}
	until(t, "the others run", func() bool {
		runs := f.runs()[before:]
		return by(runs, here.name) > 0 && by(runs, there.name) > 0
	})
	if said := asks(there, "members"); !strings.Contains(said, gone.name+" (") ||
		!strings.Contains(said, "was forgotten") || strings.Contains(said, "failed") {
		t.Errorf("the members: %s", said)
	}
	gone.start()
	until(t, "it counts again", func() bool {
		said := asks(there, "members")
		return strings.Contains(said, gone.name) && !strings.Contains(said, "was forgotten")
	})
}
