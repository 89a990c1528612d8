package transport

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/bpf"
	"pgregory.net/rapid"
)

func TestTheFilterPassesDatagramsWithThePrefixOnly(t *testing.T) {
	datagram := rapid.SliceOfN(rapid.ByteRange(0, 2), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SliceOfN(rapid.ByteRange(0, 2), 1, 9).Draw(t, "prefix")
		payload := datagram.Draw(t, "payload")
		if rapid.Bool().Draw(t, "welcome") {
			payload = append(append([]byte{}, prefix...), payload...)
		}
		vm, err := bpf.NewVM(prefixFilter(prefix))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := vm.Run(append(make([]byte, udpHeader), payload...))
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if len(payload) >= len(prefix) && string(payload[:len(prefix)]) == string(prefix) {
			want = udpHeader + len(payload)
		}
		if min(kept, udpHeader+len(payload)) != want {
			t.Fatalf("%d bytes kept of %v, want %d", kept, payload, want)
		}
	})
}

// needsFilters skips a test on a system without socket filters.
func needsFilters(t testing.TB) {
	t.Helper()
	e := open(t, "127.0.0.1:0", nil)
	if err := attachFilter(e.Packets.(*udp).conn, []byte("x")); err != nil {
		t.Skip(err)
	}
}

func TestJunkNeverReachesTheReader(t *testing.T) {
	needsFilters(t)
	for _, bind := range []string{"127.0.0.1:0", "[::]:0"} {
		if bind[0] == '[' {
			needsIPv6(t)
		}
		e := open(t, bind, []byte("wd\x01"))
		sender := open(t, "127.0.0.1:0", nil)
		to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), e.Addr.Port())
		for _, junk := range []string{"", "w", "wd", "wd\x02 another version", "junk", "Wd\x01", " wd\x01"} {
			write(t, sender, junk, netip.Addr{}, to)
		}
		write(t, sender, "wd\x01welcome", netip.Addr{}, to)
		if got := read(t, e); got.text != "wd\x01welcome" {
			t.Errorf("%s: %q was not dropped", bind, got.text)
		}
	}
}

func TestWithoutAFilterEverythingArrives(t *testing.T) {
	refuse := func(*net.UDPConn, []byte) error { return errors.New("not permitted") }
	e, err := listen(netip.MustParseAddrPort("127.0.0.1:0"), []byte("wd"), refuse)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	for _, text := range []string{"junk", "wd"} {
		write(t, e, text, netip.Addr{}, e.Addr)
		if got := read(t, e); got.text != text {
			t.Errorf("%q, want %q", got.text, text)
		}
	}
}
