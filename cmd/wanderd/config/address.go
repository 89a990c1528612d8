package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/wanderd/wanderd/membership/peers"
)

// splitAddress splits an address: "host", "host:port", ":port", "[v6]", "[v6]:port" or "v6". A missing part is empty.
func splitAddress(text string) (host, port string, err error) {
	if strings.Contains(text, "/") {
		return "", "", errors.New("it has a /: want host or host:port alone")
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.String(), "", nil
	}
	switch {
	case strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"):
		host = text[1 : len(text)-1]
	case strings.Contains(text, ":"):
		if host, port, err = net.SplitHostPort(text); err != nil {
			return "", "", errors.New("too many colons: an IPv6 address with a port needs brackets, as in [::1]:7946")
		}
		if port == "" {
			return "", "", errors.New("the port is missing after the colon: give one, or leave out the colon")
		}
	default:
		host = text
	}
	if strings.HasPrefix(text, "[") {
		if addr, err := netip.ParseAddr(host); err != nil || !addr.Is6() {
			return "", "", errors.New("the brackets do not hold an IPv6 address")
		}
	}
	return host, port, nil
}

// parsePort reads a port; least is 0 where the system may choose the port.
func parsePort(text string, least uint64) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n < least {
		return 0, fmt.Errorf("the port %q is not a number from %d to 65535", text, least)
	}
	return uint16(n), nil
}

func parseBind(text string, otherwise netip.AddrPort) (netip.AddrPort, error) {
	host, port, err := splitAddress(text)
	if err != nil {
		return netip.AddrPort{}, err
	}
	addr, number := otherwise.Addr(), otherwise.Port()
	switch host {
	case "":
	case "localhost": // the only name that means the same everywhere
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	default:
		if addr, err = netip.ParseAddr(host); err != nil {
			return netip.AddrPort{}, fmt.Errorf("%q is not an IP address: write one of this host's own, as in "+
				"10.0.0.7:%d", host, peers.DefaultPort)
		}
		addr = addr.Unmap()
	}
	if port != "" {
		if number, err = parsePort(port, 0); err != nil {
			return netip.AddrPort{}, err
		}
	}
	return netip.AddrPortFrom(addr, number), nil
}

// parseAdvertise reads an address that others can reach.
func parseAdvertise(text string, port uint16) (netip.AddrPort, error) {
	addr, err := parseBind(text, netip.AddrPortFrom(netip.Addr{}, port))
	switch {
	case err != nil:
		return netip.AddrPort{}, err
	case !addr.Addr().IsValid():
		return netip.AddrPort{}, errors.New("the host is missing: write the address by which others reach this one")
	case addr.Addr().IsUnspecified() || addr.Addr().IsMulticast():
		return netip.AddrPort{},
			fmt.Errorf("%s is not the address of a host: write the one by which others reach this one", addr.Addr())
	case addr.Port() == 0:
		return netip.AddrPort{},
			errors.New("the port is missing, and bind leaves its port to the system: give both the same port")
	}
	return addr, nil
}

// parseJoin reads the address of another member, which may be a name, and returns it with a port. It returns a source
// of addresses as it is.
func parseJoin(text string) (string, error) {
	if name, is := strings.CutPrefix(text, peers.ServicePrefix); is {
		if !isHostName(strings.TrimSuffix(name, ".")) {
			return "", fmt.Errorf("%q is no name of SRV records: write it as in srv:_wanderd._udp.example.org", name)
		}
		return text, nil
	}
	if peers.IsSource(text) {
		return text, nil
	}
	host, port, err := splitAddress(text)
	if err != nil {
		return "", err
	}
	if port == "" {
		port = strconv.Itoa(peers.DefaultPort)
	}
	if _, err := parsePort(port, 1); err != nil {
		return "", err
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.IsUnspecified() || addr.IsMulticast() {
			return "", fmt.Errorf("%s is not the address of a host", addr)
		}
	} else if !isHostName(host) {
		return "", fmt.Errorf("%q is neither a host name nor an address", host)
	}
	return net.JoinHostPort(host, port), nil
}

// isHostName is generous, because the resolver decides in the end. Text of digits and dots alone is an address with an
// error in it.
func isHostName(host string) bool {
	const digits, letters = "0123456789.", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	return len(host) <= 253 && !strings.HasPrefix(host, "-") && strings.Trim(host, digits) != "" &&
		strings.Trim(host, digits+letters) == ""
}
