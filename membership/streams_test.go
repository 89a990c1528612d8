package membership

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// knock opens a connection to host 1 and sends first.
func (f *fleet) knock(h *host, first string) net.Conn {
	f.t.Helper()
	conn, err := h.end.Streams.Dial(addrOfHost(1), time.Second)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := conn.Write([]byte(first)); err != nil {
		f.t.Fatal(err)
	}
	return conn
}

// cutOffAfter waits until the other side closes conn.
func cutOffAfter(t *testing.T, conn net.Conn) time.Duration {
	t.Helper()
	start := time.Now()
	_ = conn.SetReadDeadline(start.Add(time.Minute))
	if b, err := io.ReadAll(conn); err != nil || len(b) > 0 {
		t.Errorf("read %q, %v", b, err)
	}
	_ = conn.Close()
	return time.Since(start)
}

func TestConnectionWithoutOurPreambleIsCutOffAtOnce(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(2)
		for _, first := range []string{"GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", streamPreamble + "GET / HTTP/1.1\r\n\r\n"} {
			if took := cutOffAfter(t, f.knock(hosts[1], first)); took > 100*time.Millisecond {
				t.Errorf("%q was cut off after %v", first, took)
			}
		}
		if s := hosts[0].Stats(); s.Strangers != 2 || s.Foreign != 1 {
			t.Errorf("counted %+v", s)
		}
	})
}

func TestSilentConnectionsAreServedSixteenAtATimeAndCutOff(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(2)
		f.within(time.Second, "they see each other", allSee(hosts, 1, 2))
		time.Sleep(time.Minute) // it has settled
		var silent []net.Conn
		for range 2 * maxIncoming {
			silent = append(silent, f.knock(hosts[1], streamPreamble))
		}
		first := cutOffAfter(t, silent[0])
		var rest time.Duration
		for _, conn := range silent[1:] {
			rest += cutOffAfter(t, conn)
		}
		if first.Round(100*time.Millisecond) != greetingTime || rest.Round(100*time.Millisecond) != greetingTime {
			t.Errorf("the first was cut off after %v, the last %v later; want %v each", first, rest, greetingTime)
		}
		if !hosts[0].sees(1, 2) {
			t.Error("the fleet has suffered")
		}
	})
}

func TestStreamIsReadNoFurtherThanTheLongestFullSync(t *testing.T) {
	near, far := net.Pipe()
	g := &guardedConn{Conn: far, checked: true, header: []byte("head"), left: 10}
	go func() {
		_, _ = near.Write([]byte(strings.Repeat("x", 11)))
		_ = near.Close()
	}()
	b, err := io.ReadAll(g)
	if string(b) != "head"+strings.Repeat("x", 10) || !errors.Is(err, errTooLong) {
		t.Errorf("read %q, %v", b, err)
	}
	_ = far.Close()
}

func TestMessagesThatCrashMemberlistDoNotCrashOthers(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(3)
		f.within(time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		// Both crash a bare memberlist v0.7.0: padding longer than the message, and an encrypted stream of nothing.
		hosts[0].Deliver(sealPacket(t, secretOne, 0, bytes.Repeat([]byte{0xff}, 16)), addrOfHost(2))
		nothing := sealPacket(t, secretOne, 1, nil)
		first := binary.BigEndian.AppendUint32([]byte{encryptMsg}, uint32(len(nothing)))
		cutOffAfter(t, f.knock(hosts[1], streamPreamble+string(first)+string(nothing)))
		if s := hosts[0].Stats(); s.Malformed != 2 {
			t.Errorf("counted %+v", s)
		}
		f.always(time.Minute, "the fleet goes on", allSee(hosts, 1, 2, 3))
	})
}
