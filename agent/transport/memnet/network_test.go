package memnet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/nettest"

	"github.com/wanderd/wanderd/agent/transport"
	"github.com/wanderd/wanderd/agent/transport/memnet"
	"github.com/wanderd/wanderd/lab/bubble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func addr(host byte) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, host}), 7946)
}

func read(e *transport.Endpoint) (string, error) {
	var buf [64]byte
	n, _, _, err := e.Packets.ReadFrom(buf[:])
	return string(buf[:n]), err
}

func send(t *testing.T, e *transport.Endpoint, to netip.AddrPort, text string) {
	t.Helper()
	if err := e.Packets.WriteTo([]byte(text), netip.Addr{}, to); err != nil {
		t.Fatal(err)
	}
}

// connect dials from a to b and accepts there.
func connect(t *testing.T, a, b *transport.Endpoint) (near, far net.Conn) {
	t.Helper()
	near, err := a.Streams.Dial(t.Context(), b.Addr)
	if err != nil {
		t.Fatal(err)
	}
	if far, err = b.Streams.Accept(); err != nil {
		t.Fatal(err)
	}
	return near, far
}

func TestDatagramArrivesAfterItsLatencyWithBothAddresses(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		net := memnet.New(memnet.Options{Latency: 30 * time.Millisecond})
		a, b := net.Endpoint(addr(1)), net.Endpoint(addr(2))
		start := time.Now()
		send(t, a, b.Addr, "hello")
		var buf [64]byte
		n, src, dst, err := b.Packets.ReadFrom(buf[:])
		if err != nil || string(buf[:n]) != "hello" || src != a.Addr || dst != b.Addr.Addr() {
			t.Errorf("got %q from %v to %v: %v", buf[:n], src, dst, err)
		}
		if took := time.Since(start); took != 30*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
}

func TestSameSeedGivesTheSameLossesAndDelays(t *testing.T) {
	run := func() (got []string) {
		bubble.Test(t, func(t *testing.T) {
			net := memnet.New(memnet.Options{Seed: 7, Jitter: time.Second, Loss: 0.3})
			a, b := net.Endpoint(addr(1)), net.Endpoint(addr(2))
			for i := range 50 {
				send(t, a, b.Addr, fmt.Sprint(i))
			}
			time.AfterFunc(2*time.Second, func() { _ = b.Close() })
			for {
				text, err := read(b)
				if err != nil {
					return
				}
				got = append(got, text)
			}
		})
		return got
	}
	first := run()
	if second := run(); !slices.Equal(first, second) {
		t.Errorf("two runs differ:\n%v\n%v", first, second)
	}
	switch {
	case len(first) == 50:
		t.Error("nothing was lost")
	case slices.IsSortedFunc(first, func(a, b string) int { return len(a) - len(b) }):
		t.Error("nothing was reordered")
	}
}

func TestCutLosesDatagramsInFlightToo(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		net := memnet.New(memnet.Options{Latency: time.Second})
		a, b, c := net.Endpoint(addr(1)), net.Endpoint(addr(2)), net.Endpoint(addr(3))
		send(t, a, b.Addr, "under way")
		net.Partition([]netip.AddrPort{a.Addr, c.Addr}, []netip.AddrPort{b.Addr})
		send(t, a, b.Addr, "across")
		send(t, a, c.Addr, "inside")
		if text, err := read(c); text != "inside" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
		time.AfterFunc(time.Second, func() {
			net.Heal()
			send(t, a, b.Addr, "after")
		})
		if text, err := read(b); text != "after" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

func TestFilterDecidesOverEveryDatagram(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		net := memnet.New(memnet.Options{})
		a, b := net.Endpoint(addr(1)), net.Endpoint(addr(2))
		net.SetFilter(func(_, _ netip.AddrPort, payload []byte) bool { return string(payload) != "bad" })
		send(t, a, b.Addr, "bad")
		send(t, a, b.Addr, "good")
		if text, _ := read(b); text != "good" {
			t.Errorf("got %q", text)
		}
	})
}

func TestClosedEndpointUnblocksItsReadersAndCanBeBoundAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		net1 := memnet.New(memnet.Options{})
		a := net1.Endpoint(addr(1))
		time.AfterFunc(time.Second, func() { _ = a.Close() })
		if _, err := read(a); !errors.Is(err, net.ErrClosed) {
			t.Errorf("ReadFrom: %v", err)
		}
		if _, err := a.Streams.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept: %v", err)
		}
		if err := a.Packets.WriteTo(nil, netip.Addr{}, addr(2)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("WriteTo: %v", err)
		}
		again := net1.Endpoint(addr(1))
		send(t, again, again.Addr, "self")
		if text, err := read(again); text != "self" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

func TestStreamIsAProperConnection(t *testing.T) {
	nettest.TestConn(t, func() (near, far net.Conn, stop func(), err error) {
		n := memnet.New(memnet.Options{})
		a, b := n.Endpoint(addr(1)), n.Endpoint(addr(2))
		near, far = connect(t, a, b)
		return near, far, func() { _, _ = near.Close(), far.Close() }, nil
	})
}

func TestStreamDeliversEverythingBeforeItsEnd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		n := memnet.New(memnet.Options{Latency: 10 * time.Millisecond})
		a, b := n.Endpoint(addr(1)), n.Endpoint(addr(2))
		near, far := connect(t, a, b)
		want := make([]byte, 1<<20)
		for i := range want {
			want[i] = byte(i >> 8)
		}
		go func() {
			if _, err := near.Write(want); err != nil {
				t.Error(err)
			}
			_ = near.Close()
		}()
		got, err := io.ReadAll(far)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("read %d bytes of %d: %v", len(got), len(want), err)
		}
		if _, err := far.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write to a closed end: %v", err)
		}
		_ = far.Close()
	})
}

func TestStreamStallsWhileCutAndContinuesWhenHealed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		n := memnet.New(memnet.Options{})
		a, b := n.Endpoint(addr(1)), n.Endpoint(addr(2))
		near, far := connect(t, a, b)
		n.Partition([]netip.AddrPort{a.Addr}, []netip.AddrPort{b.Addr})
		if _, err := near.Write([]byte("patience")); err != nil {
			t.Fatal(err)
		}
		var buf [64]byte
		_ = far.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := far.Read(buf[:]); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read across a cut: %v", err)
		}
		_ = far.SetReadDeadline(time.Time{})
		time.AfterFunc(time.Minute, n.Heal)
		start := time.Now()
		if k, err := far.Read(buf[:]); string(buf[:k]) != "patience" || err != nil {
			t.Errorf("got %q, %v", buf[:k], err)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("took %v", took)
		}
		_, _ = near.Close(), far.Close()
	})
}

func TestDialIsRefusedWhereNobodyListensAndTimesOutAcrossACut(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		n := memnet.New(memnet.Options{})
		a, b := n.Endpoint(addr(1)), n.Endpoint(addr(2))
		if _, err := a.Streams.Dial(t.Context(), addr(9)); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody there: %v", err)
		}
		n.Partition([]netip.AddrPort{a.Addr}, []netip.AddrPort{b.Addr})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := a.Streams.Dial(ctx, b.Addr)
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() || time.Since(start) != 3*time.Second {
			t.Errorf("across a cut: %v after %v", err, time.Since(start))
		}
	})
}

func TestCrashResetsTheOtherEndsOfStreams(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		n := memnet.New(memnet.Options{})
		a, b := n.Endpoint(addr(1)), n.Endpoint(addr(2))
		near, far := connect(t, a, b)
		time.AfterFunc(time.Second, func() { n.Crash(b.Addr) })
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read: %v", err)
		}
		if _, err := a.Streams.Dial(t.Context(), b.Addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial: %v", err)
		}
		_, _ = near.Close(), far.Close()
		n.Endpoint(b.Addr) // the address is free again
	})
}
