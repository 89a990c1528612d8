package peers

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers questions for SRV records, by UDP on loopback.
type nameServer struct {
	conn net.PacketConn
	mu   sync.Mutex
	// srv are its records, "host:port"; nil means that the name does not exist.
	srv []netip.AddrPort
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn: conn}
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
	if q := m.Questions[0]; s.srv == nil || q.Type != dnsmessage.TypeSRV ||
		q.Name.String() != "_wanderd._udp.example.org." {
		m.RCode = dnsmessage.RCodeNameError
		return m.Pack()
	}
	for _, at := range s.srv {
		host := dnsmessage.MustNewName(strings.ReplaceAll(at.Addr().String(), ".", "-") + ".example.org.")
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 1},
			Body:   &dnsmessage.SRVResource{Priority: at.Port() % 3, Target: host, Port: at.Port()},
		})
	}
	return m.Pack()
}

func (s *nameServer) set(srv ...netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.srv = srv
}

// SRV records are hosts with ports, whatever their priorities; the next question has the next answer.
func TestServicesAreTheRecordsOfTheMoment(t *testing.T) {
	s := newNameServer(t)
	ask := Services(&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}})
	at := func(ports ...uint16) (list []netip.AddrPort) {
		for _, port := range ports {
			list = append(list, netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(port)}), port))
		}
		return list
	}
	for _, c := range []struct {
		srv  []netip.AddrPort
		want []string
	}{
		{at(1, 2, 3), []string{"10-0-0-1.example.org:1", "10-0-0-2.example.org:2", "10-0-0-3.example.org:3"}},
		{nil, nil},
		{at(), nil},
		{at(4), []string{"10-0-0-4.example.org:4"}},
	} {
		s.set(c.srv...)
		hosts, err := ask(t.Context(), "srv:_wanderd._udp.example.org")
		slices.Sort(hosts)
		if !slices.Equal(hosts, c.want) || (err == nil) != (len(c.want) > 0) {
			t.Errorf("%v: %q, %v", c.srv, hosts, err)
		}
	}
}

// FuzzTarget: what a source says is refused, or is a host that can be looked up, with a port.
func FuzzTarget(f *testing.F) {
	for _, text := range []string{"10.0.0.7", "seed:1", "[::1]:99", "srv:_x", "a b", "exec:x", ":", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseTarget(text)
		if err == nil && !got.asks && (got.host == "" || got.port == 0 || strings.ContainsAny(got.host, " /[]%")) {
			t.Errorf("%q is %+v", text, got)
		}
	})
}
