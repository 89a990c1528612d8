package e2e

import (
	"strconv"
	"strings"
	"testing"
)

// A token on call comes back, with a higher number, when the agent of its holder dies: while a command runs and another
// member waits for it, and at rest. "make oncall" measures how soon.
func TestATokenOnCallComesBackWithAHigherNumber(t *testing.T) {
	t.Parallel()
	f := onDemand(t, 4)
	f.start()
	for _, n := range f.nodes {
		n.answers()
	}
	last := 0
	runs := func(c *caller) {
		t.Helper()
		c.wantCode(0, "")
		seq, err := strconv.Atoi(strings.TrimSpace(c.out.String()))
		if err != nil || seq <= last {
			t.Errorf("a command runs under number %d after %d: %v", seq, last, err)
		}
		last = seq
	}
	const number = "echo $WANDERD_SEQ"
	for i, n := range f.nodes[:2] {
		runs(f.nodes[3].exec("--", "sh", "-c", number).begin())
		n.exec("--", "sleep", "600").begin()
		n.runsOne()
		waits := f.nodes[2].exec("--", "sh", "-c", number).begin()
		until(t, "it waits", func() bool { return len(f.nodes[2].callers()) == 1 })
		n.kill()
		runs(waits)
		if i == 0 {
			n.start()
		}
	}
	f.nodes[2].kill() // The token rests there.
	runs(f.nodes[3].exec("--", "sh", "-c", number).begin())
}
