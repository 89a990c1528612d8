package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/wanderd/wanderd/agent/control"
)

// seesAll waits until each of some nodes counts all of them.
func seesAll(t *testing.T, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		until(t, n.name+" sees all", func() bool {
			s, ok := n.status()
			return ok && s.Members == len(nodes)
		})
	}
}

// cannotJoin waits until the status of a node warns that it cannot join, for this reason.
func (n *node) cannotJoin(why string) {
	n.fleet.t.Helper()
	until(n.fleet.t, n.name+" warns: "+why, func() bool { return n.warns("cannot join", why) })
}

// A program says who is in the fleet. It has no variable of the agent, and what it says may be empty or an error for a
// while.
func TestAProgramSaysWhomToJoin(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, "--min-interval", "1s", "--skip", "250ms")
	f.seeds = 1
	f.nodes[0].start()
	members := filepath.Join(f.dir, "members")
	program := f.script(`env | grep '^WANDERD_' && exit 3
		cat "` + members + `"`)
	late := f.nodes[1]
	late.args = []string{"--join", "exec:" + program, "--alone", "wait"}
	f.nodes[0], f.nodes[1] = late, f.nodes[0] // so that the later one joins nobody by name
	late.start("WANDERD_LOG_LEVEL=debug")
	late.cannotJoin("its program has failed: exit status 1")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(members, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# nobody\n\n")
	late.cannotJoin("it names no host")
	write("no host?\n" + f.nodes[1].addr + " # the first\n")
	seesAll(t, f.nodes...)
}

// nameServer answers questions of one zone on an address of loopback.
type nameServer struct {
	addr string
	mu   sync.Mutex
	// ports are those of the SRV records; without any, there is an empty answer.
	ports []uint16
}

func (s *nameServer) set(ports ...uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ports = ports
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	s := &nameServer{addr: fmt.Sprintf("127.53.%d.%d", os.Getpid()>>8&0x7f, os.Getpid()&0xff)}
	conn, err := net.ListenPacket("udp", s.addr+":53")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) == nil {
				answer, _ := s.answer(m)
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return s
}

func (s *nameServer) answer(m dnsmessage.Message) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	header := dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET}
	host := dnsmessage.MustNewName("host.fleet.test.")
	switch q := m.Questions[0]; {
	case q.Type == dnsmessage.TypeA && q.Name == host:
		m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
	case q.Type == dnsmessage.TypeSRV && q.Name.String() == "_wanderd._udp.fleet.test.":
		for _, port := range s.ports {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: header, Body: &dnsmessage.SRVResource{Target: host, Port: port},
			})
		}
	}
	return m.Pack()
}

// The members are in SRV records, which name the wrong host at first, then nobody, and then the fleet. When they name
// nobody again, a member that starts again finds the fleet by what it remembers, and nobody is forgotten.
func TestServiceRecordsSayWhomToJoin(t *testing.T) {
	t.Parallel()
	dns := newNameServer(t)
	if os.Geteuid() != 0 || exec.Command("unshare", "-m", "true").Run() != nil {
		t.Skip("only root may mount another resolv.conf")
	}
	f := newFleet(t, 3, "--min-interval", "1s", "--skip", "250ms", "--join", "srv:_wanderd._udp.fleet.test")
	resolv := filepath.Join(f.dir, "resolv.conf")
	if err := os.WriteFile(resolv, []byte("nameserver "+dns.addr+"\noptions timeout:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := f.nodes
	f.nodes = nil // so that nobody joins another by its address
	t.Cleanup(func() {
		for _, n := range all {
			n.kill()
		}
	})
	for _, n := range all {
		n.under = []string{
			"unshare", "-m", "sh", "-c", `mount --bind "$0" /etc/resolv.conf && exec "$@"`, resolv,
		}
		n.args = []string{"--alone", "wait"}
		n.start()
	}
	all[1].cannotJoin("no such host: it is asked again")
	dns.set(1)
	all[1].cannotJoin("no wanderd listens there")
	var ports []uint16
	for _, n := range all {
		_, port, _ := strings.Cut(n.addr, ":")
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, uint16(number))
	}
	dns.set(ports...)
	seesAll(t, all...)
	dns.set()
	all[2].kill()
	all[2].start()
	seesAll(t, all...)
	var s control.Status
	until(t, "somebody runs", func() bool {
		s, _ = all[0].status()
		return len(s.Gates) == 1 && s.Gates[0].Runs > 0
	})
}
