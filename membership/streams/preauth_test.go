package streams

import (
	"net"
	"net/netip"
	"testing"
)

func connFrom(host string) *Conn {
	conn, _ := net.Pipe()
	return &Conn{Conn: conn, End: New(Config{}), from: SourceOf(netip.MustParseAddr(host))}
}

func TestTheOldestUnprovedConnectionMakesRoomForTheNewest(t *testing.T) {
	l := preAuthLimit{most: 4, perAddr: 2}
	var in []*Conn
	for _, host := range []string{"10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.3", "::ffff:10.0.0.4"} {
		g := connFrom(host)
		in = append(in, g)
		l.enter(g)
	}
	// The first left when its address had too many, the second when there were too many in all.
	for i, want := range []bool{false, false, true, true, true, true} {
		if l.leave(in[i]) != want {
			t.Errorf("%d is in: %v", i, !want)
		}
	}
}

func TestTheAddressesOfOneIPv6NetworkAreOneSource(t *testing.T) {
	l := preAuthLimit{most: 10, perAddr: 1}
	first, other, second := connFrom("2001:db8::1"), connFrom("2001:db8:0:1::1"), connFrom("2001:db8::2:1")
	for _, g := range []*Conn{first, other, second} {
		l.enter(g)
	}
	if l.leave(first) || !l.leave(other) || !l.leave(second) {
		t.Error("two addresses of one network are in")
	}
}
