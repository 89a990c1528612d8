package peers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

const (
	// DefaultPort is the port of an address to join that has none.
	DefaultPort = 7946
	// resolveTimeout bounds one look-up.
	resolveTimeout = 5 * time.Second
	// maxAddrs is how many addresses of one name are tried at a time.
	maxAddrs = 8
)

// Resolver looks up the addresses of a host name.
type Resolver func(ctx context.Context, host string) ([]netip.Addr, error)

func systemResolver(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// Target is one address to join.
type Target struct {
	text string
	host string
	port uint16
	// asks is true if it is a source of addresses.
	asks bool
}

// parseTarget reads "host", "host:port", "[v6]", "[v6]:port", "v6", or a source of addresses.
func parseTarget(s string) (Target, error) {
	if IsSource(s) {
		return Target{text: s, asks: true}, nil
	}
	t := Target{text: s, host: s, port: DefaultPort}
	bad := func(why string) (Target, error) {
		return t, fmt.Errorf("cannot join %q: %s; want host or host:port", s, why)
	}
	_, err := netip.ParseAddr(s)
	switch bare := err == nil; {
	case bare:
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		t.host = s[1 : len(s)-1]
	case strings.Contains(s, ":"):
		host, port, err := net.SplitHostPort(s)
		if err != nil {
			return bad("too many colons")
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return bad("the port is not a number from 1 to 65535")
		}
		t.host, t.port = host, uint16(n)
	}
	switch {
	case t.host == "" || strings.ContainsAny(t.host, " /[]"):
		return bad("no host")
	case strings.Contains(t.host, "%"):
		return bad("an address with a zone means nothing on another host")
	}
	return t, nil
}

// ParseTargets reads addresses to join, by their text: an address may be given twice.
func ParseTargets(addresses []string) (map[string]Target, error) {
	targets := make(map[string]Target, len(addresses))
	for _, s := range addresses {
		t, err := parseTarget(s)
		if err != nil {
			return nil, err
		}
		targets[t.text] = t
	}
	return targets, nil
}

// resolve returns the target's current addresses in random order, at most maxAddrs.
func (t Target) resolve(ctx context.Context, lookup Resolver) ([]netip.AddrPort, error) {
	ips := make([]netip.Addr, 0, 1)
	if ip, err := netip.ParseAddr(t.host); err == nil {
		ips = append(ips, ip)
	} else {
		ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
		defer cancel()
		if ips, err = lookup(ctx, t.host); err != nil {
			return nil, fmt.Errorf("looking up %s: %w", t.host, err)
		}
	}
	if len(ips) == 0 {
		return nil, fmt.Errorf("looking up %s: it has no addresses", t.host)
	}
	addrs := make([]netip.AddrPort, 0, len(ips))
	for _, i := range rand.Perm(len(ips))[:min(len(ips), maxAddrs)] {
		addrs = append(addrs, netip.AddrPortFrom(ips[i].Unmap(), t.port))
	}
	return addrs, nil
}
