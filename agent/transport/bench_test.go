package transport

import (
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// BenchmarkRoundTrip compares a request and its answer, 165 bytes each, with the same on a bare socket.
func BenchmarkRoundTrip(b *testing.B) {
	message := make([]byte, 165)
	copy(message, "wd\x01")
	b.Run("bare", func(b *testing.B) {
		server, client := bare(b), bare(b)
		go func() {
			buf := make([]byte, 2048)
			for {
				n, src, err := server.ReadFromUDPAddrPort(buf)
				if err != nil {
					return
				}
				_, _ = server.WriteToUDPAddrPort(buf[:n], src)
			}
		}()
		to := server.LocalAddr().(*net.UDPAddr).AddrPort()
		buf := make([]byte, 2048)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.WriteToUDPAddrPort(message, to); err != nil {
				b.Fatal(err)
			}
			if _, _, err := client.ReadFromUDPAddrPort(buf); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("endpoint", func(b *testing.B) {
		prefix := message[:3]
		server, client := open(b, "127.0.0.1:0", prefix), open(b, "127.0.0.1:0", prefix)
		go func() {
			buf := make([]byte, 2048)
			for {
				n, src, dst, err := server.Packets.ReadFrom(buf)
				if err != nil {
					return
				}
				_ = server.Packets.WriteTo(buf[:n], dst, src)
			}
		}()
		buf := make([]byte, 2048)
		b.ReportAllocs()
		for b.Loop() {
			if err := client.Packets.WriteTo(message, netip.Addr{}, server.Addr); err != nil {
				b.Fatal(err)
			}
			if _, _, _, err := client.Packets.ReadFrom(buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkJunk measures a junk datagram from the sender's system call to the drop, and how often it wakes the reader.
func BenchmarkJunk(b *testing.B) {
	junk := []byte(
		"junk, as long as any message of ours, more or less, but with another beginning, and nobody wants it")
	for name, prefix := range map[string][]byte{"filtered": []byte("wd\x01"), "unfiltered": nil} {
		b.Run(name, func(b *testing.B) {
			e, sender := open(b, "127.0.0.1:0", prefix), bare(b)
			var reads atomic.Int64
			go func() {
				buf := make([]byte, 2048)
				for {
					if _, _, _, err := e.Packets.ReadFrom(buf); err != nil {
						return
					}
					reads.Add(1)
				}
			}()
			b.ReportAllocs()
			before := cpu(b)
			for b.Loop() {
				if _, err := sender.WriteToUDPAddrPort(junk, e.Addr); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(reads.Load())/float64(b.N), "reads/op")
		})
	}
}

func bare(b *testing.B) *net.UDPConn {
	b.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return conn
}

// cpu returns the processor time of all threads of this process so far.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
