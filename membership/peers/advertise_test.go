package peers

import (
	"net/netip"
	"strings"
	"testing"
)

func TestAdvertisedAddressIsReachableForOthers(t *testing.T) {
	parse := func(s string) netip.AddrPort {
		if s == "" {
			return netip.AddrPort{}
		}
		return netip.MustParseAddrPort(s)
	}
	for _, c := range []struct{ bound, wanted, want string }{
		{"10.0.0.1:7946", "", "10.0.0.1:7946"},
		{"127.0.0.1:9", "", "127.0.0.1:9"},
		{"[::ffff:10.0.0.1]:9", "", "10.0.0.1:9"},
		{"10.0.0.1:7946", "192.0.2.7:99", "192.0.2.7:99"},
		{"0.0.0.0:7946", "192.0.2.7:0", "192.0.2.7:7946"},
		{"[::]:7946", "[2001:db8::1]:99", "[2001:db8::1]:99"},
	} {
		if got, err := Advertised(parse(c.bound), parse(c.wanted)); got != parse(c.want) || err != nil {
			t.Errorf("bound %s, wanted %q: %v, %v", c.bound, c.wanted, got, err)
		}
	}
	// The test does not know this host's address. It checks that there is one, or an error with a remedy.
	switch got, err := Advertised(parse("0.0.0.0:7946"), netip.AddrPort{}); {
	case err != nil:
		t.Logf("this host: %v", err)
	case !got.IsValid() || got.Addr().IsUnspecified() || got.Port() != 7946:
		t.Errorf("this host advertises %v", got)
	}
}

// A link-local address has no meaning on another host. A host whose only IPv6 address is link-local may have a default
// route for IPv6, which its router has announced, and none for IPv4.
func TestALinkLocalAddressIsNeverAdvertised(t *testing.T) {
	addrs := func(list ...string) (addrs []netip.Addr) {
		for _, s := range list {
			if s == "" {
				addrs = append(addrs, netip.Addr{}) // no route
				continue
			}
			addrs = append(addrs, netip.MustParseAddr(s))
		}
		return addrs
	}
	own := addrs("127.0.0.1", "::1", "169.254.9.9", "fe80::1", "203.0.113.5", "10.9.0.5", "2001:db8::5")
	for _, c := range []struct {
		routed, own []netip.Addr
		only4       bool
		want        string
	}{
		{addrs("10.0.0.1", "2001:db8::1"), own, false, "10.0.0.1"},
		{addrs("", "2001:db8::1"), own, false, "2001:db8::1"},
		{addrs("", "2001:db8::1"), own, true, "10.9.0.5"},
		{addrs("", "fe80::1"), own, false, "10.9.0.5"},
		{addrs("169.254.9.9", "fe80::1"), own, false, "10.9.0.5"},
		{addrs("", "fe80::1"), own[:5], false, "203.0.113.5"},
		{addrs("", ""), addrs("::1", "fe80::1", "2001:db8::5"), false, "2001:db8::5"},
		{addrs("", "fe80::1"), own[:4], false, ""},
		{addrs("", "fe80::1"), addrs("2001:db8::5"), true, ""},
	} {
		got, err := chooseAddr(c.routed, c.own, c.only4)
		if (err != nil) != (c.want == "") || c.want != "" && got != netip.MustParseAddr(c.want) {
			t.Errorf("routes from %v, addresses %v, only IPv4 %v: %v, %v; want %q", c.routed, c.own, c.only4, got, err,
				c.want)
		}
	}
	for _, at := range []struct{ bound, wanted string }{{"[::]:7946", "[fe80::1]:7946"}, {"[fe80::1]:7946", ""}} {
		var wanted netip.AddrPort
		if at.wanted != "" {
			wanted = netip.MustParseAddrPort(at.wanted)
		}
		if got, err := Advertised(netip.MustParseAddrPort(at.bound), wanted); err == nil ||
			!strings.Contains(err.Error(), "link-local") {
			t.Errorf("bound to %s, wanted %q: %v, %v", at.bound, at.wanted, got, err)
		}
	}
}

func TestAnAddressOnWhichNothingListensIsNotAdvertised(t *testing.T) {
	own := []netip.Addr{
		netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"),
		netip.MustParseAddr("fd00::1"), netip.MustParseAddr("127.0.0.1"),
	}
	for _, c := range []struct {
		bound, advertise string
		heard            bool
	}{
		{"[::]:7946", "10.0.0.1:7946", true},
		{"[::]:7946", "[fd00::1]:7946", true},
		{"[::]:7946", "192.0.2.7:99", true},
		{"0.0.0.0:7946", "10.0.0.1:7946", true},
		{"10.0.0.1:7946", "10.0.0.1:7946", true},
		{"10.0.0.1:7946", "192.0.2.7:99", true}, // A router's, which leads here.
		{"[fd00::1]:7946", "[2001:db8::1]:99", true},
		{"127.0.0.1:7946", "127.0.0.1:7947", true}, // A relay's.
		{"[::]:7946", "[fe80::1]:7946", false},
		{"0.0.0.0:7946", "[fd00::1]:7946", false},
		{"0.0.0.0:7946", "[2001:db8::1]:7946", false},
		{"10.0.0.1:7946", "[fd00::1]:7946", false},
		{"[fd00::1]:7946", "10.0.0.1:7946", false},
		{"10.0.0.1:7946", "10.0.0.2:7946", false},
		{"[::]:7946", "10.0.0.1:7947", false},
		{"10.0.0.1:7946", "10.0.0.1:7947", false},
	} {
		err := CheckAdvertised(netip.MustParseAddrPort(c.bound), netip.MustParseAddrPort(c.advertise), own)
		if (err == nil) != c.heard {
			t.Errorf("bound to %s, %s is advertised: %v", c.bound, c.advertise, err)
		}
	}
}
