package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wanderd/wanderd/agent/control"
)

// ip runs ip(8).
func ip(format string, args ...any) error {
	line := strings.Fields(fmt.Sprintf(format, args...))
	if out, err := exec.Command("ip", line...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(line, " "), err, out)
	}
	return nil
}

// networks counts the networks that were made.
var networks atomic.Int32

// apart puts each node on a host of its own: a network namespace. A bridge in one more namespace connects them. The
// addresses of a node on eth0 are what of returns for its number, from 1 on; the others join it at the first one.
func (f *fleet) apart(of func(i int) []string) (hosts []string) {
	f.t.Helper()
	if os.Geteuid() != 0 {
		f.t.Skip("only root may make network namespaces")
	}
	networks := networks.Add(1)
	name := func(i int) string { return fmt.Sprintf("wd%d-%d-%d", os.Getpid(), networks, i) }
	bridge := name(0)
	if err := ip("netns add %s", bridge); err != nil {
		f.t.Skip(err)
	}
	f.t.Cleanup(func() { _ = ip("netns del %s", bridge) })
	if err := ip("-n %s link add br0 type bridge", bridge); err != nil {
		f.t.Skip(err)
	}
	must := func(err error) {
		f.t.Helper()
		if err != nil {
			f.t.Fatal(err)
		}
	}
	must(ip("-n %s link set br0 up", bridge))
	for i, n := range f.nodes {
		host := name(i + 1)
		must(ip("netns add %s", host))
		f.t.Cleanup(func() {
			n.kill()
			_ = ip("netns del %s", host)
		})
		must(ip("-n %s link add eth0 type veth peer name port%d netns %s", host, i, bridge))
		must(ip("-n %s link set port%d master br0", bridge, i))
		must(ip("-n %s link set port%d up", bridge, i))
		must(ip("-n %s link set lo up", host))
		must(ip("-n %s link set eth0 up", host))
		addrs := of(i + 1)
		for _, addr := range addrs {
			options := ""
			if strings.Contains(addr, ":") {
				options = "nodad"
			}
			must(ip("-n %s addr add %s dev eth0 %s", host, addr, options))
		}
		n.under = []string{"ip", "netns", "exec", host}
		n.bind = ""
		n.addr, _, _ = strings.Cut(addrs[0], "/")
		hosts = append(hosts, host)
	}
	return hosts
}

func ownIPv6(i int) string { return fmt.Sprintf("fd00:77::%d/64", i) }
func ownIPv4(i int) string { return fmt.Sprintf("10.77.0.%d/24", i) }

// Hosts that have only IPv6 form a fleet with the defaults, and run their hooks.
func TestHostsWithIPv6AloneTakeTurns(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--skip", "50ms", "--op", "200ms", "--min-interval", "1s")
	f.apart(func(i int) []string { return []string{ownIPv6(i)} })
	f.start()
	until(t, "everybody has run", func() bool {
		runs := f.runs()
		return !slices.ContainsFunc(f.nodes, func(n *node) bool { return by(runs, n.name) < 2 })
	})
	if s, ok := f.nodes[0].status(); !ok || s.Members != 3 || s.Address != "[::]:7946" {
		t.Errorf("it says %+v", s)
	}
}

// warns reports whether a node has a warning with all of these words.
func (n *node) warns(words ...string) bool {
	s, _ := n.status()
	return slices.ContainsFunc(s.Warnings, func(w control.Warning) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(w.Text, word) })
	})
}

// unwell reports whether "status --check" exits with 2, and has a line with these words.
func (n *node) unwell(words string) bool {
	cmd := exec.Command(program(n.fleet.t), "status", "--check", "--state-dir", n.state)
	out, _ := cmd.Output()
	return cmd.ProcessState.ExitCode() == 2 && strings.Contains(string(out), words)
}

// A host that has only IPv6, in a fleet that advertises IPv4, is a member, because the others listen on IPv6 too. But
// no token gets to it. Both sides report why, and what to do.
func TestAHostOfAnotherIPVersionIsNamedOnBothSides(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--skip", "50ms", "--op", "200ms", "--min-interval", "1s")
	f.apart(func(i int) []string {
		if i == 3 {
			return []string{ownIPv6(i)}
		}
		return []string{ownIPv6(i), ownIPv4(i)}
	})
	f.start()
	first, other := f.nodes[0], f.nodes[2]
	until(t, "it knows why no token comes", func() bool {
		return other.warns("they advertise IPv4, to which it has no route")
	})
	until(t, "the others name it", func() bool {
		return first.warns("m3 (", "it advertises IPv6", "the same IP version (--advertise)")
	})
	if !first.unwell("m3 (") || !other.unwell("no token comes here") {
		t.Error("a check says nothing of it")
	}
	if first.warns("m2 (", "does not answer") {
		t.Error("a member that answers is named, too")
	}
}

// A router announces a default route for IPv6 also to a host whose only IPv6 address is link-local. No other host
// reaches that address.
func TestALinkLocalAddressIsNotAdvertised(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1)
	host := f.apart(func(i int) []string { return []string{ownIPv4(i)} })[0]
	if err := ip("-n %s -6 route add default via fe80::1 dev eth0", host); err != nil {
		t.Skip(err)
	}
	f.first()
	members, err := f.nodes[0].control().Members(t.Context())
	if err != nil || len(members.Members) != 1 || members.Members[0].Address != "10.77.0.1:7946" {
		t.Errorf("%+v, %v", members, err)
	}
}
