package agent

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"net/netip"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/wire"
)

// junkIntake can handle a datagram as far as no loop and no membership is needed.
func junkIntake(t testing.TB) *intake {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	codec, err := wire.NewCodec(key, rand.Reader, wire.Secret{1})
	if err != nil {
		t.Fatal(err)
	}
	i := &intake{
		codec: new(atomic.Pointer[wire.Codec]), drops: newDrops(zerolog.Nop()), duplicates: newDuplicates(),
		inbound: make(chan inbound, 1),
	}
	i.codec.Store(codec)
	return i
}

// junk looks like a sealed message, which is the most expensive kind that a sender without the secret can make.
func junk() []byte {
	return append([]byte{
		wire.Magic[0], wire.Magic[1], wire.Version, byte(wire.ClassSealed),
	}, bytes.Repeat([]byte{7}, 500)...)
}

func TestJunkIsDroppedWithoutAnAllocation(t *testing.T) {
	i, src := junkIntake(t), netip.MustParseAddrPort("192.0.2.66:1")
	for name, datagram := range map[string][]byte{
		"sealed": junk(), "short": junk()[:20],
		"noise": bytes.Repeat([]byte{7}, 500), "long": make([]byte, longestDatagram+1),
	} {
		i.sort(bytes.Clone(datagram), src, netip.Addr{}) // the first one may be warned about
		if n := testing.AllocsPerRun(1000, func() { i.sort(datagram, src, netip.Addr{}) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if len(i.inbound) > 0 {
		t.Error("junk came to the loop")
	}
}

func BenchmarkJunkMessage(b *testing.B) {
	i, src, datagram := junkIntake(b), netip.MustParseAddrPort("192.0.2.66:1"), junk()
	i.sort(bytes.Clone(datagram), src, netip.Addr{})
	b.ReportAllocs()
	begin := cpu(b)
	for b.Loop() {
		i.sort(datagram, src, netip.Addr{})
	}
	b.ReportMetric(float64(cpu(b)-begin)/float64(b.N), "cpu-ns/op")
}

// cpu is the CPU time of this process so far: other processes of the host do not count, unlike in what a benchmark
// prints.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
