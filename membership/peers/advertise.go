package peers

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// Advertised chooses the address that is advertised to other members. memberlist would ask go-sockaddr, which runs
// ip(8) to find the default route; the kernel can be asked directly.
func Advertised(bound, wanted netip.AddrPort) (netip.AddrPort, error) {
	host, port := wanted.Addr().Unmap(), wanted.Port()
	if port == 0 {
		port = bound.Port()
	}
	switch {
	case port == 0:
		return netip.AddrPort{}, errors.New("no port to advertise: the bound address has none")
	case host.IsValid() && (host.IsUnspecified() || host.IsMulticast()):
		return netip.AddrPort{},
			fmt.Errorf("cannot advertise %s: give --advertise an address at which other hosts can reach this one",
				host)
	case isOfLink(host):
		return netip.AddrPort{}, errOfLink(host)
	case host.IsValid():
	case bound.Addr().IsValid() && !bound.Addr().IsUnspecified():
		if host = bound.Addr().Unmap(); isOfLink(host) {
			return netip.AddrPort{}, fmt.Errorf("cannot advertise %s, to which --bind is set: a link-local address "+
				"means nothing on another host; bind to "+
				"another address, or to [::]", host)
		}
	default:
		var err error
		if host, err = hostAddr(bound.Addr().Is4()); err != nil {
			return netip.AddrPort{}, err
		}
	}
	// A zone has a meaning on this host only.
	return netip.AddrPortFrom(host.WithZone(""), port), nil
}

// isOfLink reports whether an address is link-local for IPv6. IPv4's link-local addresses have no zone: a fleet on one
// cable may use them, if it is configured so.
func isOfLink(a netip.Addr) bool { return a.Is6() && a.IsLinkLocalUnicast() }

func errOfLink(host netip.Addr) error {
	return fmt.Errorf("cannot advertise %s: a link-local address means nothing on another host; give --advertise "+
		"another address", host)
}

// CheckAdvertised returns an error if nothing would listen on the advertised address, for an agent that is bound to
// bound on a host with the addresses own. An address that is not in own may lead here through a router, if the IP
// version is the same.
func CheckAdvertised(bound, advertise netip.AddrPort, own []netip.Addr) error {
	host, at := advertise.Addr().Unmap(), bound.Addr().Unmap()
	switch {
	case isOfLink(host):
		return errOfLink(host)
	case !at.IsValid() || host == at && advertise.Port() == bound.Port():
		return nil
	case host.Is6() && at.Is4():
		return fmt.Errorf("nothing listens on %s: %s is IPv4 only; bind to [::]:%d, which accepts both", advertise,
			bound, bound.Port())
	case host.Is4() && at.Is6() && !at.IsUnspecified():
		return fmt.Errorf("nothing listens on %s: %s is IPv6 only; bind to [::]:%d, which accepts both", advertise,
			bound, bound.Port())
	case !slices.Contains(own, host) || host.IsLoopback(): // On loopback, a relay may forward.
		return nil
	case host != at && !at.IsUnspecified():
		return fmt.Errorf("nothing listens on %s: the address is this host's, but the agent is bound to %s; omit "+
			"--advertise, or bind to the same address",
			advertise, bound)
	case advertise.Port() != bound.Port():
		return fmt.Errorf("nothing listens on %s: the agent is bound to port %d; advertise that port", advertise,
			bound.Port())
	}
	return nil
}

// OwnAddrs returns the addresses of this host's interfaces.
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

// hostAddr returns an address at which other hosts can reach this one. With only4 it considers IPv4 addresses only.
func hostAddr(only4 bool) (netip.Addr, error) {
	own, err := OwnAddrs()
	if err != nil {
		return netip.Addr{}, fmt.Errorf("addresses of this host: %w; set one with --advertise", err)
	}
	// Blocks reserved for documentation (RFC 5737, RFC 3849).
	return chooseAddr([]netip.Addr{routedAddr("192.0.2.1:9"), routedAddr("[2001:db8::1]:9")}, own, only4)
}

// chooseAddr chooses the source address of a default route, the first that is usable; without such a route, a private
// address of any interface, and then any other. A link-local address is not usable: an IPv6 router announces a default
// route also to hosts that have no other IPv6 address.
func chooseAddr(routed, own []netip.Addr, only4 bool) (netip.Addr, error) {
	good := func(a netip.Addr) bool { return a.IsGlobalUnicast() && (a.Is4() || !only4) }
	private := func(a netip.Addr) bool { return good(a) && a.IsPrivate() }
	for _, list := range []struct {
		of  []netip.Addr
		yes func(netip.Addr) bool
	}{{routed, good}, {own, private}, {own, good}} {
		if i := slices.IndexFunc(list.of, list.yes); i >= 0 {
			return list.of[i], nil
		}
	}
	if only4 {
		return netip.Addr{},
			errors.New("this host has no IPv4 address that other hosts could reach, and 0.0.0.0 is IPv4 only: " +
				"bind to [::], which accepts IPv6 too, or set an address with --advertise")
	}
	return netip.Addr{}, errors.New("this host has no address that other hosts could reach: set one with --advertise")
}

// routedAddr returns the source address of the route to dst, or the zero Addr. Connecting a datagram socket sends
// nothing.
func routedAddr(dst string) netip.Addr {
	conn, err := net.Dial("udp", dst)
	if err != nil {
		return netip.Addr{}
	}
	defer func() { _ = conn.Close() }()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
}

// HasRoute reports whether this host has a route to an address, and an address of its own for that route: across a
// router, a link-local address has no meaning. It sends nothing.
func HasRoute(to netip.Addr) bool {
	own := routedAddr(netip.AddrPortFrom(to, 9).String())
	return own.IsValid() && (!own.IsLinkLocalUnicast() || to.IsLinkLocalUnicast())
}
