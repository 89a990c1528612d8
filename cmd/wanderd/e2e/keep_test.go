package e2e

import (
	"strings"
	"testing"
	"time"
)

// A command asks that its grant is kept beyond its end, and ends; its agent is killed and started again. The next host
// waits until the first one should have gone down.
func TestACommandKeepsItsGrantBeyondItsEnd(t *testing.T) {
	t.Parallel()
	f := onCallFleet(t, 3, `keep = "10s"`, `skip = "100ms"`)
	first, next := f.nodes[0], f.nodes[1]
	keep := `"$0" keep --for 5s --reason "a new kernel" --state-dir "$1" && exit 3; exit 4`
	c := first.exec("--wait", "30s", "--", "sh", "-c", keep, program(t), first.state)
	c.wantCode(3, "")
	asked := time.Now()
	if !strings.Contains(c.out.String(), "is kept: this host may take until") {
		t.Errorf("it says: %s", c.out.String())
	}
	s, ok := first.status()
	if !ok || len(s.Gates[0].Kept) != 1 || s.Gates[0].Kept[0].Reason != "a new kernel" {
		t.Errorf("the status: %+v", s.Gates)
	}
	first.kill()
	first.start()
	next.exec("--wait", "30s", "--", "false").wantCode(1, "")
	if waited := time.Since(asked); waited < 4*time.Second {
		t.Errorf("the next host waits for %v", waited)
	}
}
