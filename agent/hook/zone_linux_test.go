package hook

import (
	"net"
	"net/netip"
	"testing"
)

func TestAZoneIsTheNumberOfItsInterface(t *testing.T) {
	loopback, err := net.InterfaceByName("lo")
	if err != nil {
		t.Skip(err)
	}
	for zone, want := range map[string]uint32{"lo": uint32(loopback.Index), "7": 7, "": 0, "no such interface": 0} {
		if got := zoneID(zone); got != want {
			t.Errorf("zone %q is %d, want %d", zone, got, want)
		}
	}
}

// The pre-signed releases reach IPv4 and IPv6 addresses, also those that are written as the other kind.
func TestAWordIsSentToEitherFamily(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.ListenPacket("udp", at)
		if err != nil {
			t.Logf("this host has no %s: %v", at, err)
			continue
		}
		to := netip.MustParseAddrPort(listener.LocalAddr().String())
		for _, to := range []netip.AddrPort{to, netip.AddrPortFrom(netip.AddrFrom16(to.Addr().As16()), to.Port())} {
			word := Word{To: to, Datagram: []byte("last")}
			if err := word.send(); err != nil {
				t.Errorf("%s: %v", to, err)
				continue
			}
			buffer := make([]byte, 10)
			if n, _, err := listener.ReadFrom(buffer); err != nil || string(buffer[:n]) != "last" {
				t.Errorf("%s: %q, %v", to, buffer[:n], err)
			}
		}
		_ = listener.Close()
	}
}
