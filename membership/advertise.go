package membership

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// advertised chooses the address other members are told. memberlist would ask go-sockaddr, which runs ip(8) to find the
// default route; the kernel can be asked directly.
func advertised(bound, wanted netip.AddrPort) (netip.AddrPort, error) {
	host, port := wanted.Addr().Unmap(), wanted.Port()
	if port == 0 {
		port = bound.Port()
	}
	switch {
	case port == 0:
		return netip.AddrPort{}, errors.New("no port to advertise: the address that is bound has none")
	case host.IsValid() && (host.IsUnspecified() || host.IsMulticast()):
		return netip.AddrPort{}, fmt.Errorf("cannot advertise %s: --advertise takes an address at which other hosts reach this one",
			host)
	case host.IsValid():
	case bound.Addr().IsValid() && !bound.Addr().IsUnspecified():
		host = bound.Addr().Unmap()
	default:
		var err error
		if host, err = hostAddr(); err != nil {
			return netip.AddrPort{}, err
		}
	}
	// A zone means something on this host only.
	return netip.AddrPortFrom(host.WithZone(""), port), nil
}

// hostAddr returns an address other hosts reach this one at: the one its default route leaves from, or without such a
// route a private one of any interface.
func hostAddr() (netip.Addr, error) {
	// Blocks reserved for documentation (RFC 5737, RFC 3849).
	for _, anywhere := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} {
		if a := routedAddr(anywhere); a.IsValid() {
			return a, nil
		}
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}, fmt.Errorf("addresses of this host: %w; say which one with --advertise", err)
	}
	for _, a := range own {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().IsPrivate() {
			return p.Addr().Unmap(), nil
		}
	}
	return netip.Addr{}, errors.New("this host has no address that others could reach: say one with --advertise")
}

// routedAddr returns the address that the route to dst leaves from, or the zero Addr. Connecting a datagram socket sends
// nothing.
func routedAddr(dst string) netip.Addr {
	conn, err := net.Dial("udp", dst)
	if err != nil {
		return netip.Addr{}
	}
	defer func() { _ = conn.Close() }()
	local, ok := conn.LocalAddr().(*net.UDPAddr)
	if !ok {
		return netip.Addr{}
	}
	return local.AddrPort().Addr().Unmap()
}
