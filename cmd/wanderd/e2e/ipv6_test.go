package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Hosts that have IPv6 alone form a fleet by the defaults, and run their hooks. Each is a network namespace; a bridge in one
// more connects them.
func TestHostsWithIPv6AloneTakeTurns(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may make network namespaces")
	}
	f := newFleet(t, 3, "--skip", "50ms", "--op", "200ms", "--min-interval", "1s")
	name := func(i int) string { return fmt.Sprintf("wd%d-%d", os.Getpid(), i) }
	ip := func(format string, args ...any) error {
		line := strings.Fields(fmt.Sprintf(format, args...))
		if out, err := exec.Command("ip", line...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(line, " "), err, out)
		}
		return nil
	}
	bridge := name(0)
	if err := ip("netns add %s", bridge); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = ip("netns del %s", bridge) })
	if err := ip("-n %s link add br0 type bridge", bridge); err != nil {
		t.Skip(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(ip("-n %s link set br0 up", bridge))
	for i, n := range f.nodes {
		host := name(i + 1)
		must(ip("netns add %s", host))
		t.Cleanup(func() {
			n.kill()
			_ = ip("netns del %s", host)
		})
		must(ip("-n %s link add eth0 type veth peer name port%d netns %s", host, i, bridge))
		must(ip("-n %s link set port%d master br0", bridge, i))
		must(ip("-n %s link set port%d up", bridge, i))
		must(ip("-n %s link set lo up", host))
		must(ip("-n %s link set eth0 up", host))
		must(ip("-n %s addr add fd00:77::%d/64 dev eth0 nodad", host, i+1))
		n.under = []string{"ip", "netns", "exec", host}
		n.bind, n.addr = "", fmt.Sprintf("fd00:77::%d", i+1)
	}
	f.start()
	until(t, "everybody has run", func() bool {
		runs := f.runs()
		return !slices.ContainsFunc(f.nodes, func(n *node) bool { return by(runs, n.name) < 2 })
	})
	if s, ok := f.nodes[0].status(); !ok || s.Members != 3 || s.Address != "[::]:7946" {
		t.Errorf("it says %+v", s)
	}
}
