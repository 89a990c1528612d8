package config

import (
	"net/netip"
	"testing"
)

func TestAddressesToBind(t *testing.T) {
	otherwise := netip.MustParseAddrPort("127.0.0.1:7946")
	for text, want := range map[string]string{
		":7000": "127.0.0.1:7000", ":0": "127.0.0.1:0", "10.0.0.7": "10.0.0.7:7946", "10.0.0.7:1": "10.0.0.7:1",
		"localhost": "127.0.0.1:7946", "localhost:1": "127.0.0.1:1", "::1": "[::1]:7946", "[::1]": "[::1]:7946",
		"[::1]:1": "[::1]:1", "[::]:1": "[::]:1", "0.0.0.0": "0.0.0.0:7946", "::ffff:10.0.0.7": "10.0.0.7:7946",
	} {
		if got, err := parseBind(text, otherwise); err != nil || got.String() != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		"myhost", "10.0.0.7:", "10.0.0.7:-1", "10.0.0.7:65536", "10.0.0.7:http", "10.0.0.300", "a:b:c", "[::1",
		"[10.0.0.7]:1",
		"[]:1", "udp://10.0.0.7", "10.0.0.0/8", ":",
	} {
		if got, err := parseBind(text, otherwise); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestAddressesToJoin(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.7": "10.0.0.7:7946", "10.0.0.7:1": "10.0.0.7:1", "m1": "m1:7946",
		"m1.example.org:7": "m1.example.org:7",
		"::1":              "[::1]:7946", "[::1]": "[::1]:7946", "[fe80::1%eth0]:7": "[fe80::1%eth0]:7",
		"my_host": "my_host:7946", "srv:_wanderd._udp.example.org": "srv:_wanderd._udp.example.org",
		"exec:/bin/members -v": "exec:/bin/members -v",
	} {
		if got, err := parseJoin(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		"m1:0", "m1:", ":7946", "m1:x", "10.0.0", "10.0.0.256", "0.0.0.0", "224.0.0.1:7946", "m 1", "-m1", "http://m1",
		"a:b:c",
		"[m1]:1", "m1\n", "srv:", "srv:a b", "srv:a:1",
	} {
		if got, err := parseJoin(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestAddressesToAdvertise(t *testing.T) {
	for text, want := range map[string]string{"10.0.0.7": "10.0.0.7:7000", "10.0.0.7:1": "10.0.0.7:1"} {
		if got, err := parseAdvertise(text, 7000); err != nil || got.String() != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{":7000", "0.0.0.0:7000", "[::]:7000", "224.0.0.1:1", "10.0.0.7:0", "m1"} {
		if got, err := parseAdvertise(text, 7000); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	if got, err := parseAdvertise("10.0.0.7", 0); err == nil {
		t.Errorf("without any port: %v", got)
	}
}
