package ports

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

// A port is nobody else's, although nothing listens there, until it is released.
func TestAClaimedPortIsNobodyElses(t *testing.T) {
	addr, release, err := Claim()
	if err != nil {
		t.Fatal(err)
	}
	n := int(netip.MustParseAddrPort(addr).Port())
	if again, ok := claim(n); ok {
		again()
		t.Errorf("%s was given away twice", addr)
	}
	release()
	again, ok := claim(n)
	if !ok {
		t.Fatalf("%s was released, and cannot be claimed", addr)
	}
	again()
}

// What listens for TCP or for UDP without a claim is seen, too.
func TestAPortInUseIsNotFree(t *testing.T) {
	for _, network := range []string{"tcp4", "udp4"} {
		addr := For(t)
		if !isFree(addr) {
			t.Fatalf("%s was given, and is not free", addr)
		}
		var use interface{ Close() error }
		var err error
		if strings.HasPrefix(network, "tcp") {
			use, err = net.Listen(network, addr)
		} else {
			use, err = net.ListenPacket(network, addr)
		}
		if err != nil {
			t.Fatal(err)
		}
		if isFree(addr) {
			t.Errorf("%s is in use for %s, and is called free", addr, network)
		}
		_ = use.Close()
	}
}
