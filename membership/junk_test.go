package membership

import (
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/membership/streams"
)

func newTestSeal(t testing.TB, key []byte) *streams.Seal {
	t.Helper()
	return streams.NewSeal(peertest.SecretsOf(key))
}

// junkPackets are packets that anybody may send, by what the sender knows.
func junkPackets(t testing.TB) map[string][]byte {
	junk := peertest.Junk()
	junk["another secret"] = peertest.SealPacket(t, secretTwo, 1, make([]byte, 500))
	return junk
}

func junkTransport(t testing.TB, key []byte) *gossipTransport {
	tr := &gossipTransport{
		cfg: &Config{}, seal: newTestSeal(t, key), admission: admission.New(nil), closed: t.Context(),
	}
	tr.foreignWarn.Every = time.Hour
	tr.lastForeign.Store(&sign{})
	return tr
}

func TestJunkCostsNoAllocation(t *testing.T) {
	src := netip.MustParseAddrPort("10.0.0.1:1")
	for _, key := range [][]byte{secretOne, nil} {
		tr := junkTransport(t, key)
		for name, junk := range junkPackets(t) {
			tr.deliver(junk, src) // the first one may be warned about
			// The scratch buffers are in a sync.Pool, which the collector may empty between two runs.
			if n := testing.AllocsPerRun(1000, func() { tr.deliver(junk, src) }); n >= 1 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	}
}

func BenchmarkJunkGossip(b *testing.B) {
	src := netip.MustParseAddrPort("10.0.0.1:1")
	tr, junk := junkTransport(b, secretOne), peertest.SealPacket(b, secretTwo, 1, make([]byte, 500))
	tr.deliver(junk, src)
	b.ReportAllocs()
	begin := cpu(b)
	for b.Loop() {
		tr.deliver(junk, src)
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
