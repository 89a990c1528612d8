package membership

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/membership/streams"
)

// knock opens a connection to host 1 and sends first.
func (f *fleet) knock(h *host, first string) net.Conn {
	f.t.Helper()
	conn, err := h.end.Streams.Dial(h.f.t.Context(), peertest.AddrOf(1))
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := conn.Write([]byte(first)); err != nil {
		f.t.Fatal(err)
	}
	return conn
}

// cutOffAfter waits until the other side closes conn. It must have sent no more than it got.
func cutOffAfter(t *testing.T, conn net.Conn, got int) time.Duration {
	t.Helper()
	start := time.Now()
	_ = conn.SetReadDeadline(start.Add(time.Minute))
	if b, err := io.ReadAll(conn); err != nil || len(b) > got {
		t.Errorf("read %q, %v", b, err)
	}
	_ = conn.Close()
	return time.Since(start)
}

func TestConnectionThatDoesNotProveItselfIsCutOffAtOnce(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(2)
		hello := string(streams.ForGossip) + string(make([]byte, streams.CallerNonce))
		for _, first := range []string{
			"GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", "wdg\x01GET / HTTP/1.1\r\n", hello + "GET / HTTP/1.1\r\n\r\n",
		} {
			if took := cutOffAfter(t, f.knock(hosts[1], first), len(first)); took > 100*time.Millisecond {
				t.Errorf("%q was cut off after %v", first, took)
			}
		}
		if s := hosts[0].Stats(); s.NoPreamble != 3 || s.Foreign != 1 {
			t.Errorf("counted %+v", s)
		}
	})
}

func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(2)
		f.within(time.Second, "they see each other", allSee(hosts, 1, 2))
		hello := string(streams.ForGossip) + string(make([]byte, streams.CallerNonce))
		var silent []net.Conn
		for i := range 2 * streams.MaxPreAuth {
			silent = append(silent, f.knock(hosts[1], hello[:i%len(hello)+1]))
		}
		hosts = append(hosts, f.start(3))
		f.within(2*time.Second, "a third one joins", allSee(hosts, 1, 2, 3))
		var longest time.Duration
		for _, conn := range silent {
			longest = max(longest, cutOffAfter(t, conn, len(hello)))
		}
		if longest > streams.GreetingTime {
			t.Errorf("a silent connection was cut off after %v", longest)
		}
		if s := hosts[0].Stats(); s.Crowded < streams.MaxPreAuth {
			t.Errorf("counted %+v", s)
		}
	})
}

// Without a secret anybody can prove itself; only connections whose whole frame has come get a place.
func TestSlowConnectionsInTheClearKeepNobodyOut(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		noSecret := func(c *Config) { c.Secrets = nil }
		hosts := []*host{f.start(1, noSecret), f.start(2, noSecret)}
		f.within(time.Second, "they see each other", allSee(hosts, 1, 2))
		for range 4 * streams.MaxSending {
			conn := f.prove(hosts[1])
			if _, err := conn.Write([]byte{0, 1, 0, 0, packets.PushPullMsg}); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
		}
		hosts = append(hosts, f.start(3, noSecret))
		f.within(2*time.Second, "a third one joins", allSee(hosts, 1, 2, 3))
	})
}

// A caller with the secret but no trusted key can prove the secret, and send the rest slowly: it does not keep a place
// for long while others wait.
func TestSlowConnectionsWithTheSecretKeepNobodyOut(t *testing.T) {
	long := string([]byte{0, 0x40, 0, 0}) + string(make([]byte, streams.FrameShort+1)) // of 4 MiB
	for _, first := range []string{string([]byte{0, 1, 0, 0}), "", long} {
		inFleet(t, func(_ *testing.T, f *fleet) {
			hosts := f.startAll(2)
			f.within(time.Second, "they see each other", allSee(hosts, 1, 2))
			for i := range 2 * (streams.MaxIncoming + streams.MaxWaiting) {
				conn := f.prove(hosts[1])
				defer func() { _ = conn.Close() }()
				if i%2 == 0 {
					_, _ = conn.Write([]byte(first))
				}
			}
			hosts = append(hosts, f.start(3))
			f.within(2*time.Second, "a third one joins", allSee(hosts, 1, 2, 3))
		})
	}
}

// prove opens a connection to host 1 that has proved itself with the secrets of h.
func (f *fleet) prove(h *host) net.Conn {
	f.t.Helper()
	conn, err := h.end.Streams.Dial(h.f.t.Context(), peertest.AddrOf(1))
	if err != nil {
		f.t.Fatal(err)
	}
	g := &streams.Conn{Conn: conn, End: h.transport.streams}
	g.IsFor(streams.ForGossip)
	if err := g.AsCaller(); err != nil {
		f.t.Fatal(err)
	}
	return conn
}
