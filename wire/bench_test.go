package wire

import (
	"bytes"
	"crypto/ed25519"
	"testing"
)

type datagramToRead struct {
	datagram []byte
	secret   *Secret // the receiver's
	want     Drop
}

// datagramsToRead has a datagram of every kind that a port receives: valid ones, and junk that passes more and more
// checks.
func datagramsToRead(t testing.TB) map[string]datagramToRead {
	otherSecret := Secret(counting(1, 32))
	malformed := datagramOf(t, token(), nil)
	clear(malformed[EnvelopeSize+atFrom : EnvelopeSize+atTo])
	otherVersion := datagramOf(t, token(), nil)
	otherVersion[2]++
	return map[string]datagramToRead{
		"message=clear":         {datagramOf(t, token(), nil), nil, 0},
		"message=sealed":        {datagramOf(t, token(), secret()), secret(), 0},
		"junk=short":            {[]byte("wd"), nil, DropSize},
		"junk=foreign":          {bytes.Repeat([]byte("junk"), 50), nil, DropMagic},
		"junk=version":          {otherVersion, nil, DropVersion},
		"junk=clear-not-sealed": {datagramOf(t, token(), nil), secret(), DropClear},
		"junk=sealed-not-clear": {datagramOf(t, token(), secret()), nil, DropNoSecret},
		"junk=other-secret":     {datagramOf(t, token(), &otherSecret), secret(), DropSeal},
		"junk=malformed":        {malformed, nil, DropMalformed},
		"junk=longest-sealed": {
			append(appendEnvelope(nil, ClassSealed), make([]byte, MaxDatagram-4)...), secret(), DropSeal,
		},
	}
}

func BenchmarkOpen(b *testing.B) {
	for name, tc := range datagramsToRead(b) {
		b.Run(name, func(b *testing.B) {
			codec, buf := newCodec(b, bobsKey(), tc.secret, zeros{}), make([]byte, len(tc.datagram))
			b.ReportAllocs()
			for b.Loop() {
				copy(buf, tc.datagram)
				if _, drop := codec.Open(buf); drop != tc.want {
					b.Fatalf("dropped for %v, want %v", drop, tc.want)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, s := range map[string]*Secret{"clear": nil, "sealed": secret()} {
		b.Run(name, func(b *testing.B) {
			codec, m, buf := newCodec(b, annsKey(), s, zeros{}), token(), make([]byte, 0, MaxDatagram)
			b.ReportAllocs()
			for b.Loop() {
				codec.Append(buf, &m)
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	u, _ := newCodec(b, bobsKey(), nil, nil).Open(datagramOf(b, token(), nil))
	ann := public(annsKey())
	b.ReportAllocs()
	for b.Loop() {
		if !u.Verify(ann) {
			b.Fatal("does not verify")
		}
	}
}

// BenchmarkHandoff measures the total cost of a handoff's three messages in this package. BenchmarkHandoffFloor is the
// lower limit: three contents signed and verified with plain Ed25519.
func BenchmarkHandoff(b *testing.B) {
	ann, bob := newCodec(b, annsKey(), secret(), zeros{}), newCodec(b, bobsKey(), secret(), zeros{})
	annsPublic, bobsPublic := public(annsKey()), public(bobsKey())
	offer, answer, last := token(), ack(), commit()
	buf := make([]byte, 0, MaxDatagram)
	hop := func(from, to *Codec, m *Message, sender ed25519.PublicKey) {
		u, drop := to.Open(from.Append(buf, m))
		if drop != 0 || !u.Verify(sender) {
			b.Fatalf("%v: %v", m.Kind, drop)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		hop(ann, bob, &offer, annsPublic)
		hop(bob, ann, &answer, bobsPublic)
		hop(ann, bob, &last, annsPublic)
	}
}

func BenchmarkHandoffFloor(b *testing.B) {
	m, key := token(), annsKey()
	pub, content := public(key), m.Append(nil)
	b.ReportAllocs()
	for b.Loop() {
		for range 3 {
			if !ed25519.Verify(pub, content, ed25519.Sign(key, content)) {
				b.Fatal("does not verify")
			}
		}
	}
}
