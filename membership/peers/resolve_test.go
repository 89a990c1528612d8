package peers

import (
	"context"
	"net/netip"
	"slices"
	"testing"
)

func TestTargetIsHostOrHostAndPort(t *testing.T) {
	for text, want := range map[string]Target{
		"10.0.0.7":         {host: "10.0.0.7", port: DefaultPort},
		"10.0.0.7:1":       {host: "10.0.0.7", port: 1},
		"seed":             {host: "seed", port: DefaultPort},
		"seed.example:99":  {host: "seed.example", port: 99},
		"2001:db8::1":      {host: "2001:db8::1", port: DefaultPort},
		"[2001:db8::1]":    {host: "2001:db8::1", port: DefaultPort},
		"[2001:db8::1]:99": {host: "2001:db8::1", port: 99},
	} {
		want.text = text
		if got, err := parseTarget(text); got != want || err != nil {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{
		"", ":7946", "host:", "host:0", "host:x", "host:70000", "a:b:c", "name/host:1", "a b", "[::1", "fe80::1%eth0",
	} {
		if got, err := parseTarget(bad); err == nil {
			t.Errorf("%q was taken for %+v", bad, got)
		}
	}
}

func TestAddressesOfANameAreShuffledAndBounded(t *testing.T) {
	var all []netip.Addr
	for i := range byte(20) {
		all = append(all, netip.AddrFrom4([4]byte{10, 0, 0, i + 1}))
	}
	lookup := func(context.Context, string) ([]netip.Addr, error) { return all, nil }
	seen := make(map[netip.AddrPort]bool)
	for range 50 {
		addrs, err := Target{host: "many.example", port: 7}.resolve(t.Context(), lookup)
		if err != nil || len(addrs) != maxAddrs || len(slices.Compact(slices.Clone(addrs))) != maxAddrs {
			t.Fatalf("%v, %v", addrs, err)
		}
		for _, a := range addrs {
			seen[a] = true
		}
	}
	if len(seen) != 20 {
		t.Errorf("only %d of 20 addresses are ever tried", len(seen))
	}
	none := func(context.Context, string) ([]netip.Addr, error) { return nil, nil }
	if addrs, err := (Target{host: "none.example", port: 7}).resolve(t.Context(), none); err == nil {
		t.Errorf("a name without addresses gave %v", addrs)
	}
}

func TestAddressesAreUnmapped(t *testing.T) {
	addrs, err := Target{host: "::ffff:10.0.0.1", port: 7}.resolve(t.Context(), nil)
	if err != nil || len(addrs) != 1 || addrs[0] != netip.MustParseAddrPort("10.0.0.1:7") {
		t.Errorf("%v, %v", addrs, err)
	}
}
