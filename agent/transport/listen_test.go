package transport

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// patience bounds every wait of a test. Only a defect makes a wait that long.
const patience = 10 * time.Second

func open(t testing.TB, bind string, prefix []byte) *Endpoint {
	t.Helper()
	e, err := Listen(netip.MustParseAddrPort(bind), prefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// needsIPv6 skips a test on a host without IPv6.
func needsIPv6(t testing.TB) {
	t.Helper()
	e, err := Listen(netip.MustParseAddrPort("[::1]:0"), nil)
	if err != nil {
		t.Skip(err)
	}
	_ = e.Close()
}

// received is one result of ReadFrom.
type received struct {
	text string
	src  netip.AddrPort
	dst  netip.Addr
}

func read(t testing.TB, e *Endpoint) received {
	t.Helper()
	if err := e.Packets.(*udp).conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 2048)
	n, src, dst, err := e.Packets.ReadFrom(buf)
	if err != nil {
		t.Fatal(err)
	}
	return received{text: string(buf[:n]), src: src, dst: dst}
}

func write(t testing.TB, e *Endpoint, text string, src netip.Addr, dst netip.AddrPort) {
	t.Helper()
	if err := e.Packets.WriteTo([]byte(text), src, dst); err != nil {
		t.Fatal(err)
	}
}

func TestUDPAndTCPShareOnePort(t *testing.T) {
	for _, bind := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::]:0"} {
		e, err := Listen(netip.MustParseAddrPort(bind), nil)
		if err != nil && strings.HasPrefix(bind, "[") {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		udpAt := e.Packets.(*udp).conn.LocalAddr().(*net.UDPAddr).AddrPort()
		tcpAt := e.Streams.(*tcp).Addr().(*net.TCPAddr).AddrPort()
		if udpAt != tcpAt || udpAt != e.Addr || e.Addr.Port() == 0 {
			t.Errorf("%s: UDP %v, TCP %v, said to be %v", bind, udpAt, tcpAt, e.Addr)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnAddressThatCannotBeBoundIsNamedWithARemedy(t *testing.T) {
	taken := open(t, "127.0.0.1:0", nil).Addr
	onlyUDP, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = onlyUDP.Close() }()
	for name, c := range map[string]struct {
		bind netip.AddrPort
		want []string
	}{
		"TCP in use": {taken, []string{"TCP", taken.String(), "another wanderd", "--bind"}},
		"UDP in use": {
			onlyUDP.LocalAddr().(*net.UDPAddr).AddrPort(),
			[]string{"UDP", onlyUDP.LocalAddr().String(), "another wanderd"},
		},
		"not ours": {netip.MustParseAddrPort("198.51.100.1:0"), []string{"198.51.100.1", "no such address", "--bind"}},
	} {
		e, err := Listen(c.bind, nil)
		if err == nil {
			_ = e.Close()
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", name, err, want)
			}
		}
	}
	// A failure must not leave one of the two sockets behind.
	half, err := net.Listen("tcp4", onlyUDP.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = half.Close()
}

func TestCloseEndsEveryWait(t *testing.T) {
	e := open(t, "127.0.0.1:0", nil)
	ended := make(chan error, 2)
	go func() {
		_, _, _, err := e.Packets.ReadFrom(make([]byte, 16))
		ended <- err
	}()
	go func() {
		_, err := e.Streams.Accept()
		ended <- err
	}()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		select {
		case err := <-ended:
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("error %v", err)
			}
		case <-time.After(patience):
			t.Fatal("still waiting")
		}
	}
}

func TestDatagramsCarryTheTrafficClass(t *testing.T) {
	v4 := open(t, "127.0.0.1:0", nil)
	if got, err := ipv4.NewPacketConn(v4.Packets.(*udp).conn).TOS(); err != nil || got != trafficClass {
		t.Errorf("IPv4: %#x, %v", got, err)
	}
	needsIPv6(t)
	dual := open(t, "[::]:0", nil)
	if got, err := ipv6.NewPacketConn(dual.Packets.(*udp).conn).TrafficClass(); err != nil || got != trafficClass {
		t.Errorf("IPv6: %#x, %v", got, err)
	}
	if got, err := ipv4.NewPacketConn(dual.Packets.(*udp).conn).TOS(); err != nil || got != trafficClass {
		t.Errorf("IPv4 mapped: %#x, %v", got, err)
	}
}
