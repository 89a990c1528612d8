package membership

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"

	"github.com/rs/zerolog"
)

// sealPacket encrypts as memberlist does.
func sealPacket(t testing.TB, key []byte, version byte, plain []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	out := append([]byte{version}, make([]byte, sealedNonce)...)
	return aead.Seal(out, out[1:], plain, nil)
}

func newTestSeal(t testing.TB, key []byte) *seal {
	t.Helper()
	s, err := newSeal(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOnlyPacketsOfThisFleetPass(t *testing.T) {
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
		{"sealed and long", sealed, sealPacket(t, secretOne, 1, make([]byte, MaxPacket-sealedOverhead)), nil},
		{"another secret", sealed, sealPacket(t, secretTwo, 1, []byte("ping")), errForeignSeal},
		{"a flipped bit", sealed, flipped, errForeignSeal},
		{"cut short", sealed, good[:len(good)-1], errForeignSeal},
		{"version 0, which can crash memberlist", sealed, sealPacket(t, secretOne, 0, []byte("\xff")), errMalformed},
		{"sealed nothing", sealed, sealPacket(t, secretOne, 1, nil), errMalformed},
		{"a label", sealed, append([]byte{244, 1, 'x'}, good...), errMalformed},
		{"in the clear", sealed, []byte{0, 1, 2}, errMalformed},
		{"too long", sealed, sealPacket(t, secretOne, 1, make([]byte, MaxPacket)), errMalformed},
		{"nothing", sealed, nil, errMalformed},
		{"clear and expected so", open, []byte{0, 1, 2}, nil},
		{"clear with a label", open, []byte{244, 1, 'x'}, errMalformed},
		{"clear nothing", open, nil, errMalformed},
	} {
		if err := c.seal.checkPacket(c.packet); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestOnlyStreamsOfThisFleetPass(t *testing.T) {
	header := func(kind byte, length uint32, version byte) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{kind}, length), version)
	}
	sealed, open := newTestSeal(t, secretOne), newTestSeal(t, nil)
	for _, c := range []struct {
		name   string
		seal   *seal
		header []byte
		want   error
	}{
		{"sealed", sealed, header(encryptMsg, 1000, 1), nil},
		{"version 0, which can crash memberlist", sealed, header(encryptMsg, 1000, 0), errMalformed},
		{"sealed nothing, which crashes memberlist", sealed, header(encryptMsg, sealedOverhead, 1), errMalformed},
		{"longer than any membership", sealed, header(encryptMsg, maxStream+1, 1), errMalformed},
		{"in the clear", sealed, header(pushPullMsg, 0, 0), errNotSealed},
		{"HTTP", sealed, []byte("GET / "), errNotSealed},
		{"clear and expected so", open, header(pushPullMsg, 0, 0), nil},
		{"sealed, by whatever secret", open, header(encryptMsg, 1000, 1), errSealed},
		{"SSH", open, []byte("SSH-2."), errMalformed},
	} {
		if err := c.seal.checkStream(c.header); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestJunkCostsNoAllocation(t *testing.T) {
	tr := &gossipTransport{seal: newTestSeal(t, secretOne), closed: make(chan struct{}), log: zerolog.Nop()}
	src := netip.MustParseAddrPort("10.0.0.1:1")
	tr.deliver(sealPacket(t, secretTwo, 1, make([]byte, 500)), src) // the first one is warned about
	tr.foreignWarn.every = refusedWarnEvery
	for name, junk := range map[string][]byte{
		"noise": bytes.Repeat([]byte("junk"), 100), "nothing": nil, "another secret": sealPacket(t, secretTwo, 1, make([]byte, 500)),
	} {
		tr.deliver(junk, src)
		// The scratch buffers are in a sync.Pool, which the collector may empty between two runs.
		if n := testing.AllocsPerRun(1000, func() { tr.deliver(junk, src) }); n >= 1 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func FuzzDeliver(f *testing.F) {
	f.Add([]byte("junk"), true)
	f.Add(sealPacket(f, secretOne, 1, []byte{0}), true)
	f.Add([]byte{pushPullMsg}, false)
	f.Fuzz(func(t *testing.T, packet []byte, sealed bool) {
		s := newTestSeal(t, nil)
		if sealed {
			s = newTestSeal(t, secretOne)
		}
		if s.checkPacket(packet) == nil && (len(packet) == 0 || len(packet) > MaxPacket || sealed && packet[0] != sealedVersion) {
			t.Errorf("%x passed", packet)
		}
		if len(packet) >= streamHeaderSize {
			_ = s.checkStream(packet[:streamHeaderSize])
		}
	})
}
