package wire

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"io"
	"strings"
	"testing"
)

// The members: ann offers bob a token that cy made, and bob accepts it; then ann and cy are its guardians. The seeds of
// their keys are one repeated byte.
func annsKey() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{'a'}, 32)) }
func bobsKey() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{'b'}, 32)) }
func cysKey() ed25519.PrivateKey  { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{'c'}, 32)) }

func public(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }
func idOf(key ed25519.PrivateKey) MemberID            { return MemberIDOf(public(key)) }

// Three messages of a handoff, and another protocol's.
const (
	kindToken Kind = iota + 1
	kindAck
	kindCommit
	kindOther = 255
)

func token() Message {
	m := Message{
		Gate: GateIDOf("default"), Protocol: 0x71, Version: 0x72, Kind: kindToken,
		From: idOf(annsKey()), To: idOf(bobsKey()), Exchange: 0x1122334455667788,
		Token: Ref{
			ID:  TokenID{Birth: 0x18a1b2c3d4e5f607, Generator: idOf(cysKey()), Random: 0xa1a2a3a4a5a6a7a8},
			Seq: 0x0000000300000005, Slot: 1,
		},
		Directive: Directive{Stamp: 0x0000018a1b2c3d4e, By: idOf(cysKey()), Until: 0x18a1c2d3e4f50617},
		Failures: Failures{
			Stamp: 7, Hosts: [MaxFailures]uint32{idOf(annsKey()).Hint(), idOf(bobsKey()).Hint()},
			Exits: [MaxFailures]uint8{1, 143},
		},
	}
	copy(m.Load[:], counting(0x80, LoadSize))
	return m
}

// reply returns the message of a handoff that answers another one, as its shell sends it.
func reply(m Message, kind Kind, nonce Nonce) Message {
	m.Kind, m.Nonce, m.From, m.To = kind, nonce, m.To, m.From
	m.Token, m.Directive, m.Failures, m.Load = m.Token.Bare(), Directive{}, Failures{}, Load{}
	return m
}

func ack() Message { return reply(token(), kindAck, 0xc1c2c3c4c5c6c7c8) }

func commit() Message { return reply(ack(), kindCommit, 0xc1c2c3c4c5c6c7c8) }

// bare is a message of any protocol that has only what all messages must have.
func bare() Message { return Message{Kind: kindOther, From: idOf(bobsKey()), To: idOf(annsKey())} }

// cast returns messages of several kinds.
func cast() []Message { return []Message{token(), ack(), commit(), bare()} }

// secret counts from 0 to 31, and the nonces that seal with it from 0 on.
func secret() *Secret {
	s := Secret(counting(0, 32))
	return &s
}

func counting(from, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(from + i)
	}
	return b
}

// zeros is a random source that is not random and never ends, for benchmarks.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func newCodec(t testing.TB, key ed25519.PrivateKey, s *Secret, random io.Reader) *Codec {
	t.Helper()
	var secrets []Secret
	if s != nil {
		secrets = []Secret{*s}
	}
	codec, err := NewCodec(key, random, secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

// keyOf returns the key of the member with that identity.
func keyOf(t testing.TB, id MemberID) ed25519.PrivateKey {
	t.Helper()
	for _, key := range []ed25519.PrivateKey{annsKey(), bobsKey(), cysKey()} {
		if idOf(key) == id {
			return key
		}
	}
	t.Fatalf("nobody of the cast has the identity %v", id)
	return nil
}

// datagramOf returns the datagram that the sender of m sends.
func datagramOf(t testing.TB, m Message, s *Secret) []byte {
	t.Helper()
	return newCodec(t, keyOf(t, m.From), s, bytes.NewReader(counting(0, sealNonceSize))).Append(nil, &m)
}

// extended returns a datagram of a later version: an unencrypted message with bytes after the content, all signed.
func extended(t testing.TB, m Message, extension string) []byte {
	t.Helper()
	codec := newCodec(t, annsKey(), nil, nil)
	signed := append(m.Append(nil), extension...)
	signed = codec.sign(signed, 0)
	return append(appendEnvelope(nil, ClassClear), signed...)
}

// unhex decodes hexadecimal text. It ignores white space, and everything after a # on a line.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return b
}
