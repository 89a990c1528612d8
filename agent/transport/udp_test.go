package transport

import (
	"net/netip"
	"strings"
	"testing"
)

func TestALongDatagramIsTruncated(t *testing.T) {
	e := open(t, "127.0.0.1:0", nil)
	write(t, e, "0123456789", netip.Addr{}, e.Addr)
	buf := make([]byte, 4)
	if n, _, _, err := e.Packets.ReadFrom(buf); err != nil || n != 4 || string(buf) != "0123" {
		t.Errorf("%d bytes, %q, %v", n, buf, err)
	}
	write(t, e, "next", netip.Addr{}, e.Addr)
	if got := read(t, e); got.text != "next" {
		t.Errorf("the rest of it came next: %q", got.text)
	}
}

func TestAnAnswerLeavesFromTheAddressOfTheRequest(t *testing.T) {
	// 127.0.0.2 is the second address of a multi-homed host. By default the kernel would answer from 127.0.0.1.
	for _, c := range []struct{ server, client, to string }{
		{"0.0.0.0:0", "127.0.0.1:0", "127.0.0.2"},
		{"[::]:0", "127.0.0.1:0", "127.0.0.2"},
		{"[::]:0", "[::1]:0", "::1"},
		{"[::]:0", "[::]:0", "127.0.0.2"},
		{"0.0.0.0:0", "[::]:0", "127.0.0.2"},
	} {
		t.Run(c.client+" to "+c.to+" at "+c.server, func(t *testing.T) {
			if strings.Contains(c.server+c.client, "[") {
				needsIPv6(t)
			}
			server, client := open(t, c.server, nil), open(t, c.client, nil)
			to := netip.AddrPortFrom(netip.MustParseAddr(c.to), server.Addr.Port())
			write(t, client, "question", netip.Addr{}, to)
			question := read(t, server)
			if question.text != "question" || question.src.Port() != client.Addr.Port() ||
				question.src.Addr().Is4In6() {
				t.Errorf("%+v", question)
			}
			if controlSize == 0 {
				t.Skip("this system does not tell where a datagram was sent to")
			}
			if question.dst != to.Addr() {
				t.Fatalf("%+v, want it at %v", question, to.Addr())
			}
			write(t, server, "answer", question.dst, question.src)
			if answer := read(t, client); answer.text != "answer" || answer.src != to {
				t.Errorf("%+v, want it from %v", answer, to)
			}
		})
	}
}

func TestAnInvalidSourceIsAnErrorOrIgnored(t *testing.T) {
	e := open(t, "127.0.0.1:0", nil)
	if err := e.Packets.WriteTo([]byte("x"), netip.MustParseAddr("198.51.100.1"), e.Addr); err == nil {
		t.Error("a datagram left from a foreign address")
	}
	write(t, e, "v6 means nothing here", netip.MustParseAddr("::1"), e.Addr)
	if got := read(t, e); !strings.HasPrefix(got.text, "v6") {
		t.Errorf("%+v", got)
	}
	mapped := netip.AddrPortFrom(netip.AddrFrom16(e.Addr.Addr().As16()), e.Addr.Port())
	write(t, e, "mapped", netip.AddrFrom16(e.Addr.Addr().As16()), mapped)
	if got := read(t, e); got.text != "mapped" {
		t.Errorf("%+v", got)
	}
}

func TestReadingAndWritingAllocateNothing(t *testing.T) {
	for _, bind := range []string{"127.0.0.1:0", "[::1]:0"} {
		if strings.HasPrefix(bind, "[") {
			needsIPv6(t)
		}
		e := open(t, bind, nil)
		buf, message := make([]byte, 256), []byte("a message")
		allocations := testing.AllocsPerRun(100, func() {
			if err := e.Packets.WriteTo(message, e.Addr.Addr(), e.Addr); err != nil {
				t.Fatal(err)
			}
			if _, _, _, err := e.Packets.ReadFrom(buf); err != nil {
				t.Fatal(err)
			}
		})
		if allocations != 0 {
			t.Errorf("%s: %v allocations a datagram", bind, allocations)
		}
	}
}
