package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/wanderd/wanderd/membership"
)

// splitAddress takes an address apart: "host", "host:port", ":port", "[v6]", "[v6]:port" or "v6". What is left out is
// empty.
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
			return "", "", errors.New("a colon and no port: give a port, or leave the colon out")
		}
	default:
		host = text
	}
	if strings.HasPrefix(text, "[") {
		if addr, err := netip.ParseAddr(host); err != nil || !addr.Is6() {
			return "", "", errors.New("what is in brackets is no IPv6 address")
		}
	}
	return host, port, nil
}

// parsePort reads a port; 0 stands for one that the system chooses, where that is allowed.
func parsePort(text string, zero bool) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	switch {
	case err == nil && (n > 0 || zero):
		return uint16(n), nil
	case zero:
		return 0, fmt.Errorf("the port %q is no number from 0 to 65535", text)
	}
	return 0, fmt.Errorf("the port %q is no number from 1 to 65535", text)
}

// parseBind reads an address of this host.
func parseBind(text string, otherwise netip.AddrPort) (netip.AddrPort, error) {
	host, port, err := splitAddress(text)
	if err != nil {
		return netip.AddrPort{}, err
	}
	addr, number := otherwise.Addr(), otherwise.Port()
	if host != "" {
		if addr, err = parseHost(host); err != nil {
			return netip.AddrPort{}, err
		}
	}
	if port != "" {
		if number, err = parsePort(port, true); err != nil {
			return netip.AddrPort{}, err
		}
	}
	return netip.AddrPortFrom(addr, number), nil
}

// parseHost reads an address, or the one name that is the same everywhere.
func parseHost(host string) (netip.Addr, error) {
	if host == "localhost" {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%q is no IP address: write one of this host's own, as in 10.0.0.7:%d", host, membership.DefaultPort)
	}
	return addr.Unmap(), nil
}

// parseAdvertise reads an address that others can reach.
func parseAdvertise(text string, port uint16) (netip.AddrPort, error) {
	addr, err := parseBind(text, netip.AddrPortFrom(netip.Addr{}, port))
	switch {
	case err != nil:
		return netip.AddrPort{}, err
	case !addr.Addr().IsValid():
		return netip.AddrPort{}, errors.New("no host: write the address that others reach this one by")
	case addr.Addr().IsUnspecified() || addr.Addr().IsMulticast():
		return netip.AddrPort{}, fmt.Errorf("%s is the address of no host: write the one that others reach this one by", addr.Addr())
	case addr.Port() == 0:
		return netip.AddrPort{}, errors.New("no port, and bind leaves its port to the system: give both the same one")
	}
	return addr, nil
}

// parseJoin reads the address of another member, which may be a name, and returns it with a port.
func parseJoin(text string) (string, error) {
	host, port, err := splitAddress(text)
	if err != nil {
		return "", err
	}
	if port == "" {
		port = strconv.Itoa(membership.DefaultPort)
	}
	if _, err := parsePort(port, false); err != nil {
		return "", err
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.IsUnspecified() || addr.IsMulticast() {
			return "", fmt.Errorf("%s is the address of no host", addr)
		}
	} else if !isHostName(host) {
		return "", fmt.Errorf("%q is neither a host name nor an address", host)
	}
	return net.JoinHostPort(host, port), nil
}

// isHostName is generous: what it lets pass, the resolver judges.
func isHostName(host string) bool {
	if host == "" || len(host) > 253 || host[0] == '-' {
		return false
	}
	allDigits := true
	for _, c := range host {
		switch {
		case c >= '0' && c <= '9' || c == '.':
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_':
			allDigits = false
		default:
			return false
		}
	}
	return !allDigits // "10.0.0" or "10.0.0.256" is an address with an error in it
}
