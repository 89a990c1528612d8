package transport

import (
	"io"
	"net"
	"net/netip"
	"testing"
	"time"
)

func TestAStreamComesFromTheBoundAddress(t *testing.T) {
	a, b := open(t, "127.0.0.2:0", nil), open(t, "127.0.0.1:0", nil)
	out, err := a.Streams.Dial(t.Context(), b.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	in, err := b.Streams.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if from := in.RemoteAddr().(*net.TCPAddr).AddrPort().Addr(); from != a.Addr.Addr() {
		t.Errorf("it comes from %v", from)
	}
	go func() {
		_, _ = out.Write([]byte("hello"))
		_ = out.Close()
	}()
	_ = in.SetReadDeadline(time.Now().Add(patience))
	if got, err := io.ReadAll(in); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDialFailsIfNobodyListens(t *testing.T) {
	e := open(t, "0.0.0.0:0", nil)
	gone := open(t, "127.0.0.1:0", nil)
	_ = gone.Close()
	conn, err := e.Streams.Dial(t.Context(), netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), gone.Addr.Port()))
	if err == nil || conn != nil {
		t.Errorf("%v, %v", conn, err)
	}
}
