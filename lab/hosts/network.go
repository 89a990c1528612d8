//go:build linux

package hosts

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// Network is a set of hosts that are joined by a bridge: namespaces that live for as long as this process holds them.
type Network struct {
	hub   *holder
	hosts []*holder
	// Clocks is true if the hosts have boot times of their own.
	Clocks bool
	// cuts are the ways that are cut. Of 1,000 packets on their way to a host, lost are lost.
	cuts map[link]bool
	lost []int
}

// holder is a process that only keeps namespaces.
type holder struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// link is the way from one host to another.
type link struct{ from, to int }

// bootApart is the difference between the boot times of two neighbouring hosts.
const bootApart = 86_413

// NewNetwork makes hosts. The error names what the machine lacks: root, unshare and nsenter, ip, or nft.
func NewNetwork(size int) (*Network, error) {
	for _, tool := range []string{"unshare", "nsenter", "ip", "nft"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, err
		}
	}
	n := &Network{Clocks: exec.Command("unshare", "--time", "--boottime", "1", "true").
		Run() == nil, cuts: map[link]bool{}, lost: make([]int, size)}
	if err := n.build(size); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

func (n *Network) build(size int) (err error) {
	if n.hub, err = hold("--net"); err != nil {
		return err
	}
	if err := n.hub.run("ip", "link", "add", "br0", "type", "bridge"); err != nil {
		return err
	}
	if err := n.hub.run("ip", "link", "set", "br0", "up"); err != nil {
		return err
	}
	for i := range size {
		spaces := []string{"--net"}
		if n.Clocks {
			spaces = append(spaces, "--time", "--boottime", strconv.Itoa(i*bootApart))
		}
		h, err := hold(spaces...)
		if err != nil {
			return err
		}
		n.hosts = append(n.hosts, h)
		port := "port" + strconv.Itoa(i+1)
		// IPv6 is off: the messages of its neighbour discovery would count as bytes at rest.
		script := `ip link set lo up && ip link set eth0 up && ip addr add ` + n.Addr(i) +
			`/24 dev eth0 && nft add table inet faults`
		if err := errors.Join(
			n.hub.run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns",
				strconv.Itoa(h.cmd.Process.Pid)),
			n.hub.run("ip", "link", "set", port, "master", "br0", "up"),
			h.run("sh", "-c", "echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6; "+script),
		); err != nil {
			return err
		}
	}
	return nil
}

// hold starts a process in namespaces of its own. It ends with this one.
func hold(spaces ...string) (*holder, error) {
	cmd := exec.Command("unshare", append(spaces, "sh", "-c", "echo; exec cat")...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	h := &holder{cmd, stdin}
	if _, err := bufio.NewReader(stdout).ReadByte(); err != nil {
		h.release()
		return nil, fmt.Errorf("no namespaces: %s", strings.TrimSpace(said.String()))
	}
	return h, nil
}

func (h *holder) release() {
	_ = h.stdin.Close()
	_ = h.cmd.Wait()
}

func (h *holder) enter(spaces ...string) []string {
	return append([]string{"nsenter", "--target", strconv.Itoa(h.cmd.Process.Pid)}, spaces...)
}

// run runs a command in the network namespace.
func (h *holder) run(argv ...string) error {
	_, err := h.feed("", argv...)
	return err
}

func (h *holder) feed(input string, argv ...string) (said string, err error) {
	argv = append(h.enter("--net"), argv...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, out)
	}
	return string(out), err
}

// Close releases the namespaces, once nothing runs there.
func (n *Network) Close() {
	for _, h := range n.hosts {
		h.release()
	}
	if n.hub != nil {
		n.hub.release()
	}
}

// Addr returns a host's address.
func (n *Network) Addr(i int) string { return fmt.Sprintf("10.77.0.%d", i+1) }

// Enter returns the command that runs another one on a host.
func (n *Network) Enter(i int) []string {
	if n.Clocks {
		return n.hosts[i].enter("--net", "--time")
	}
	return n.hosts[i].enter("--net")
}

// Cut cuts the way from one host to another, or restores it. The way back is a way of its own.
func (n *Network) Cut(from, to int, cut bool) error {
	n.cuts[link{from, to}] = cut
	return n.apply(to)
}

// Isolate cuts all ways to a host and from it, or restores them, as nearly at once as it can.
func (n *Network) Isolate(host int, cut bool) error {
	for other := range n.hosts {
		if other != host {
			n.cuts[link{host, other}], n.cuts[link{other, host}] = cut, cut
		}
	}
	failed := make([]error, len(n.hosts))
	var all sync.WaitGroup
	for to := range n.hosts {
		all.Go(func() { failed[to] = n.apply(to) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// Lose loses perMille of 1,000 packets on their way to a host, whatever their source.
func (n *Network) Lose(to, perMille int) error {
	n.lost[to] = perMille
	return n.apply(to)
}

// apply gives a host's filter the rules for the packets that arrive.
func (n *Network) apply(to int) error {
	var rules strings.Builder
	for from := range n.hosts {
		switch {
		case n.cuts[link{from, to}]:
			fmt.Fprintf(&rules, "ip saddr %s drop\n", n.Addr(from))
		case n.lost[to] > 0:
			fmt.Fprintf(&rules, "ip saddr %s numgen random mod 1000 < %d drop\n", n.Addr(from), n.lost[to])
		}
	}
	_, err := n.Run(to,
		"delete table inet faults\ntable inet faults {\nchain in {\ntype filter hook input priority 0\n"+
			rules.String()+"}\n}\n", "nft", "-f", "-")
	return err
}

// Run runs a command in the network of a host, and returns its output.
func (n *Network) Run(host int, input string, argv ...string) (said string, err error) {
	return n.hosts[host].feed(input, argv...)
}

// Sent returns how many bytes the hosts have put on the wire so far, with their headers.
func (n *Network) Sent() (total uint64, err error) {
	for i := range n.hosts {
		said, err := n.Run(i, "", "cat", "/proc/net/dev")
		if err != nil {
			return 0, err
		}
		_, line, _ := strings.Cut(said, "eth0:")
		fields := strings.Fields(line)
		if len(fields) < 9 {
			return 0, fmt.Errorf("host %d says nothing of eth0", i+1)
		}
		bytes, err := strconv.ParseUint(fields[8], 10, 64)
		if err != nil {
			return 0, err
		}
		total += bytes
	}
	return total, nil
}

// counter counts the datagrams of agents that are not gossip: the fourth byte of gossip is 1.
const counter = "table inet count {\nchain in {\ntype filter hook input priority 0\nudp dport 7946 @th,88,8 != 1 " +
	"counter\n}\n}\n"

// Count begins to count the messages of agents: their datagrams that are not gossip.
func (n *Network) Count() error {
	for i := range n.hosts {
		if _, err := n.Run(i, counter, "nft", "-f", "-"); err != nil {
			return err
		}
	}
	return nil
}

// Counted returns how many messages of agents have come to the hosts since Count, and ends the count.
func (n *Network) Counted() (total int, err error) {
	for i := range n.hosts {
		said, err := n.Run(i, "", "nft", "list", "table", "inet", "count")
		if err != nil {
			return 0, err
		}
		_, rest, _ := strings.Cut(said, "counter packets ")
		var packets int
		if _, err := fmt.Sscan(rest, &packets); err != nil {
			return 0, fmt.Errorf("nft says %q: %w", said, err)
		}
		total += packets
		if _, err := n.Run(i, "delete table inet count\n", "nft", "-f", "-"); err != nil {
			return 0, err
		}
	}
	return total, nil
}
