package membership

import (
	"net/netip"
	"testing"
)

func TestAdvertisedAddressIsOneOthersCanReach(t *testing.T) {
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
		if got, err := advertised(parse(c.bound), parse(c.wanted)); got != parse(c.want) || err != nil {
			t.Errorf("bound %s, wanted %q: %v, %v", c.bound, c.wanted, got, err)
		}
	}
	// What this host's own address is cannot be known here; that it is one, or an error says what to do, can.
	switch got, err := advertised(parse("0.0.0.0:7946"), netip.AddrPort{}); {
	case err != nil:
		t.Logf("this host: %v", err)
	case !got.IsValid() || got.Addr().IsUnspecified() || got.Port() != 7946:
		t.Errorf("this host advertises %v", got)
	}
}
