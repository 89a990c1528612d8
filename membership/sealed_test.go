package membership

import (
	"bytes"
	"errors"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// sealPacket encrypts as memberlist does.
func sealPacket(t testing.TB, secret []byte, version byte, plain []byte) []byte {
	t.Helper()
	out := append([]byte{version}, make([]byte, sealedNonce)...)
	return newAEAD(wire.Secret(secret).GossipKey()).Seal(out, out[1:], plain, nil)
}

func newTestSeal(t testing.TB, key []byte) *seal {
	t.Helper()
	return newSeal(secretsOf(key))
}

func TestOnlyPacketsOfThisFleetAreOpened(t *testing.T) {
	good := sealPacket(t, secretOne, 1, []byte("ping"))
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1
	sealed, open := newTestSeal(t, secretOne), newTestSeal(t, nil)
	for _, c := range []struct {
		name   string
		seal   *seal
		packet []byte
		want   error
	}{
		{"sealed", sealed, good, nil},
		{"sealed here", sealed, sealed.seal([]byte("ping")), nil},
		{"sealed and long", sealed, sealPacket(t, secretOne, 1, make([]byte, MaxPacket-sealedOverhead)), nil},
		{"another secret", sealed, sealPacket(t, secretTwo, 1, []byte("ping")), packets.ErrForeignSeal},
		{"a flipped bit", sealed, flipped, packets.ErrForeignSeal},
		{"cut short", sealed, good[:len(good)-1], packets.ErrForeignSeal},
		{"version 0", sealed, sealPacket(t, secretOne, 0, []byte("\xff")), packets.ErrMalformed},
		{"sealed nothing", sealed, sealPacket(t, secretOne, 1, nil), packets.ErrMalformed},
		{"a label", sealed, append([]byte{244, 1, 'x'}, good...), packets.ErrMalformed},
		{"in the clear", sealed, []byte{0, 1, 2}, packets.ErrMalformed},
		{"too long", sealed, sealPacket(t, secretOne, 1, make([]byte, MaxPacket)), packets.ErrMalformed},
		{"nothing", sealed, nil, packets.ErrMalformed},
		{"clear and expected so", open, []byte("ping"), nil},
		{"clear here", open, open.seal([]byte("ping")), nil},
		{"clear nothing", open, nil, packets.ErrMalformed},
	} {
		plain, _, err := c.seal.open(new([MaxPacket]byte), c.packet)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if err == nil && len(plain) == 4 && string(plain) != "ping" {
			t.Errorf("%s: opened as %q", c.name, plain)
		}
	}
}

func TestNoTwoConnectionsOrSidesHaveTheSameKeys(t *testing.T) {
	seen := make(map[[proofSize]byte]bool)
	for _, secret := range [][]byte{secretOne, secretTwo, nil} {
		for _, p := range []purpose{forGossip, forQuestion} {
			for _, side := range []string{"caller", "acceptor"} {
				for _, nonces := range [][]byte{make([]byte, 48), bytes.Repeat([]byte{1}, 48)} {
					keys := newTestSeal(t, secret).streamKeys(p, side, nonces)
					if seen[keys.proof] || (keys.aead == nil) != (secret == nil) {
						t.Errorf("%s of %x: %x", side, secret, keys.proof)
					}
					seen[keys.proof] = true
				}
			}
		}
	}
}

// junkPackets are what anybody may send, by what they know.
func junkPackets(t testing.TB) map[string][]byte {
	junk := peertest.Junk()
	junk["another secret"] = sealPacket(t, secretTwo, 1, make([]byte, 500))
	return junk
}

func junkTransport(t testing.TB, key []byte) *gossipTransport {
	tr := &gossipTransport{cfg: &Config{}, seal: newTestSeal(t, key), admission: admission.New(nil), closed: t.Context()}
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
	tr, junk := junkTransport(b, secretOne), sealPacket(b, secretTwo, 1, make([]byte, 500))
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
