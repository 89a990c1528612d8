package wire

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"io"
	"strings"
	"testing"
)

// The members: ann offers a token that cy made to bob, who accepts it; then ann and cy are its guardians. The seeds of their keys are
// one repeated byte.
func annsKey() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{'a'}, 32)) }
func bobsKey() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{'b'}, 32)) }
func cysKey() ed25519.PrivateKey  { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{'c'}, 32)) }

func public(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }
func idOf(key ed25519.PrivateKey) MemberID            { return MemberIDOf(public(key)) }

func token() Message {
	return Message{
		Gate: GateIDOf("default"), Kind: KindToken, From: idOf(annsKey()), To: idOf(bobsKey()), Handoff: 0x1122334455667788,
		Token: Token{
			ID:  TokenID{Birth: 0x18a1b2c3d4e5f607, Generator: idOf(cysKey()), Random: 0xa1a2a3a4a5a6a7a8},
			Seq: 0x0000000300000005, Slot: 1, LastSlot: 2,
			Route: Route{
				Lap: 0x00000021, Cursor: 0xd1d2d3d4d5d6d7d8,
				Missed: [MaxMissed]uint32{0xe1e2e3e4, 0xf1f2f3f4}, Tries: [MaxMissed]uint8{2, 1},
			},
			Trail: Trail{idOf(annsKey()), idOf(cysKey())},
			Op:    0xb1b2b3b4,
			Age:   0x2162636465666768,
		},
	}
}

func ack() Message {
	offer := token()
	return offer.Reply(KindAck, 0xc1c2c3c4c5c6c7c8)
}

func commit() Message {
	answer := ack()
	return answer.Reply(KindCommit, answer.Nonce)
}

// question is cy's Ask when no beat of bob comes.
const question HandoffID = 0x2122232425262728

// guarding is a message between the token's holder and its guardians.
func guarding(kind Kind, from, to ed25519.PrivateKey) Message {
	m := token()
	m.Kind, m.From, m.To, m.Handoff = kind, idOf(from), idOf(to), 0
	return m
}

// beat is bob's ninth beat to ann.
func beat() Message {
	m := guarding(KindBeat, bobsKey(), annsKey())
	m.Nonce = 9
	return m
}

func ask() Message {
	m := guarding(KindAsk, cysKey(), annsKey())
	m.Handoff = question
	return m
}

// heard is ann's answer: she heard bob five seconds ago.
func heard() Message {
	m := guarding(KindHeard, annsKey(), cysKey())
	m.Handoff, m.Nonce = question, 5_000_000_000
	return m
}

// known is bob's answer if he has passed the token on.
func known() Message {
	m := guarding(KindKnown, bobsKey(), cysKey())
	m.Handoff = question
	return m
}

// buried is bob's message to ann after he has removed the token.
func buried() Message { return guarding(KindBuried, bobsKey(), annsKey()) }

// inquiry is cy's question before it makes a new token.
func inquiry() Message {
	m := ask()
	m.Kind, m.Token = KindInquiry, Token{Slot: 1, LastSlot: 2}
	return m
}

// sighted is ann's answer: she had the token a minute ago.
func sighted() Message {
	m := heard()
	m.Kind, m.Nonce = KindSeen, 60_000_000_000
	return m
}

// yield is the message of bob's guard to ann when bob has died with the token.
func yield() Message { return guarding(KindYield, bobsKey(), annsKey()) }

// everyKind has one message of each kind, in the order of Kinds.
func everyKind(t testing.TB) []Message {
	t.Helper()
	all := []Message{token(), ack(), commit(), beat(), ask(), heard(), known(), buried(), inquiry(), sighted(), yield()}
	for i, kind := range Kinds() {
		if i >= len(all) || all[i].Kind != kind {
			t.Fatalf("the cast has no message of kind %v", kind)
		}
	}
	return all
}

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
	codec, err := NewCodec(key, s, random)
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
	signed = codec.signer.sign(signed, signed)
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
