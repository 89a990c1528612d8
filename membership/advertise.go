package membership

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
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
		if host, err = hostAddr(bound.Addr().Is4()); err != nil {
			return netip.AddrPort{}, err
		}
	}
	// A zone means something on this host only.
	return netip.AddrPortFrom(host.WithZone(""), port), nil
}

// CheckAdvertised says why nobody would be reached at an address that is advertised, when this is bound and the host has the
// addresses own. An address that is none of them may lead here through a router, if it is of the right kind.
func CheckAdvertised(bound, advertise netip.AddrPort, own []netip.Addr) error {
	host, at := advertise.Addr().Unmap(), bound.Addr().Unmap()
	switch {
	case !at.IsValid() || host == at && advertise.Port() == bound.Port():
		return nil
	case host.Is6() && at.Is4():
		return fmt.Errorf("nothing listens on %s: %s is IPv4 only; bind to [::]:%d, which is both", advertise, bound, bound.Port())
	case host.Is4() && at.Is6() && !at.IsUnspecified():
		return fmt.Errorf("nothing listens on %s: %s is IPv6 only; bind to [::]:%d, which is both", advertise, bound, bound.Port())
	case !slices.Contains(own, host) || host.IsLoopback(): // On loopback, a relay may stand in between.
		return nil
	case host != at && !at.IsUnspecified():
		return fmt.Errorf("nothing listens on %s: it is this host's, and the agent is bound to %s; leave --advertise out, or bind to the same address",
			advertise, bound)
	case advertise.Port() != bound.Port():
		return fmt.Errorf("nothing listens on %s: the agent is bound to port %d; advertise that port", advertise, bound.Port())
	}
	return nil
}

// OwnAddrs are the addresses of this host.
func OwnAddrs() ([]netip.Addr, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	own := make([]netip.Addr, 0, len(list))
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, p.Addr().Unmap())
		}
	}
	return own, nil
}

// hostAddr returns an address other hosts reach this one at: the one its default route leaves from, or without such a
// route a private one of any interface. An agent that is bound to IPv4 only has no use for another.
func hostAddr(only4 bool) (netip.Addr, error) {
	// Blocks reserved for documentation (RFC 5737, RFC 3849).
	for _, anywhere := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} {
		if a := routedAddr(anywhere); a.IsValid() && (a.Is4() || !only4) {
			return a, nil
		}
	}
	own, err := OwnAddrs()
	if err != nil {
		return netip.Addr{}, fmt.Errorf("addresses of this host: %w; say which one with --advertise", err)
	}
	for _, a := range own {
		if a.IsPrivate() && (a.Is4() || !only4) {
			return a, nil
		}
	}
	if only4 {
		return netip.Addr{}, errors.New("this host has no IPv4 address that others could reach, and 0.0.0.0 is IPv4 only: " +
			"bind to [::], which is IPv6 as well, or say an address with --advertise")
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
