package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/ports"
)

// lockKeep is how long the grants of these tests are kept: the shortest time that can be set.
const lockKeep = 10 * time.Second

// locking is three agents whose hosts are rebooted by programs that ask with FleetLock.
func locking(t *testing.T) (f *fleet, at map[*node]string) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl here")
	}
	f, at = newFleet(t, 3), map[*node]string{}
	f.noHook = true
	for _, n := range f.nodes {
		at[n] = ports.For(t)
		file := filepath.Join(f.dir, n.name+".toml")
		text := fmt.Sprintf(`[[gate]]
name = "reboot"
policy = "tree"
roster = ["m1", "m2", "m3"]
kill_after = "1s"
keep = %q
fleetlock = %q
fleetlock_group = "default"
`, lockKeep, at[n])
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		n.args = []string{"--config", file}
	}
	f.start()
	for _, n := range f.nodes {
		n.takesPart()
	}
	return f, at
}

// curl sends a request as the protocol's page describes it, and returns the status of the answer; 000 is none.
func curl(t *testing.T, at, path string, within time.Duration, id string) string {
	t.Helper()
	body := filepath.Join(t.TempDir(), "body.json")
	text := fmt.Sprintf("{\n  \"client_params\": {\n    \"group\": \"default\",\n    \"id\": %q\n  }\n}\n", id)
	if err := os.WriteFile(body, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time",
		fmt.Sprint(within.Seconds()), "-H", "fleet-lock-protocol: true", "-d", "@"+body, "http://"+at+path).Output()
	return string(out)
}

// FleetLock with curl as the client, and real agents: the hosts are granted one after the other, whatever becomes of
// requests and agents.
func TestHostsAreGrantedTheirRebootsOneAfterTheOther(t *testing.T) {
	deep.Only(t, "grants are kept for ten seconds at least")
	t.Parallel()
	f, at := locking(t)
	a, b, c := f.nodes[0], f.nodes[1], f.nodes[2]
	const pre, steady = "/v1/pre-reboot", "/v1/steady-state"
	ask := func(n *node, path string, within time.Duration, want string) {
		t.Helper()
		if got := curl(t, at[n], path, within, "id-of-"+n.name); got != want {
			t.Fatalf("%s%s is answered with %s, want %s", n.name, path, got, want)
		}
	}
	ask(a, steady, patience, "200") // at each start, also of a host that holds nothing
	ask(a, pre, patience, "200")
	ask(a, pre, time.Second, "200") // at once
	ask(b, pre, time.Second, "000") // it waits, and ends with its client
	a.kill()
	ask(b, pre, time.Second, "000")
	a.start()
	a.answers()
	ask(b, pre, time.Second, "000")
	until(t, "the restarted agent still grants its client", func() bool {
		return curl(t, at[a], pre, time.Second, "id-of-m1") == "200"
	})
	ask(b, pre, time.Second, "000")
	if got := curl(t, at[a], pre, patience, "another"); got != "403" && got != "503" {
		t.Errorf("another client on the same host: %s", got)
	}
	ask(a, steady, patience, "200")
	ask(b, pre, patience, "200") // and its host does not reboot
	granted := time.Now()
	ask(c, pre, patience, "200")
	if waited := time.Since(granted); waited < lockKeep-time.Second {
		t.Errorf("the next host is granted after %v, and the grant was kept for %v", waited, lockKeep)
	}
	b.logged("has not rebooted within")
	c.signal(syscall.SIGTERM)
	if code := c.exits(); code != 0 {
		t.Errorf("the agent with the grant exits with %d", code)
	}
	ask(a, pre, time.Second, "000")
	c.start()
	c.answers()
	ask(a, pre, time.Second, "000")
	ask(c, steady, patience, "200")
	ask(a, pre, patience, "200")
	ask(a, steady, patience, "200")
	a.exec("--", "true").wantCode(0, "") // It could have been a reboot.
	ask(b, pre, 5*time.Second, "000")
	out, err := exec.Command(program(t), "history", "--state-dir", b.state, "--gate", "reboot").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "fleetlock") || !strings.Contains(string(out), "timeout") {
		t.Errorf("the history of the host that did not reboot: %v\n%s", err, out)
	}
}
