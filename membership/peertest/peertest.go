// Package peertest has the keys and addresses of numbered hosts, and writes messages as memberlist does, for tests.
package peertest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/wire"
)

// PrivateOf returns a key that depends on i only.
func PrivateOf(i int) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(binary.BigEndian.AppendUint64(make([]byte, ed25519.SeedSize-8), uint64(i)))
}

// KeyOf returns the public half of [PrivateOf].
func KeyOf(i int) ed25519.PublicKey { return PrivateOf(i).Public().(ed25519.PublicKey) }

// AddrOf returns the address of host i.
func AddrOf(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 7946)
}

// Pack writes one message as memberlist does: its type and a map of the fields, each a key and a string, []byte or int.
func Pack(kind byte, entries ...any) []byte {
	b := []byte{kind, 0x80 | byte(len(entries)/2)}
	for _, e := range entries {
		switch e := e.(type) {
		case string:
			b = binary.BigEndian.AppendUint16(append(b, 0xda), uint16(len(e)))
			b = append(b, e...)
		case []byte:
			b = binary.BigEndian.AppendUint32(append(b, 0xc6), uint32(len(e)))
			b = append(b, e...)
		case int:
			b = binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(e))
		}
	}
	return b
}

// Compound joins messages to a packet of memberlist, whose type is 7.
func Compound(messages ...[]byte) []byte {
	b := []byte{7, byte(len(messages))}
	for _, m := range messages {
		b = binary.BigEndian.AppendUint16(b, uint16(len(m)))
	}
	return append(b, bytes.Join(messages, nil)...)
}

// LongNamed writes a message about a node whose name is one byte too long.
func LongNamed(kind byte) []byte {
	return Pack(kind, "Incarnation", 1, "Node", strings.Repeat("x", identity.MaxName+1+32+1))
}

// Junk returns datagrams that anybody may send.
func Junk() map[string][]byte {
	return map[string][]byte{
		"noise": bytes.Repeat([]byte("junk"), 100), "nothing": nil, "half a message": []byte("\x04\x86\xabIncarnation"),
		"a long name": LongNamed(4),
	}
}

// SealPacket encrypts as memberlist does.
func SealPacket(t testing.TB, secret []byte, version byte, plain []byte) []byte {
	t.Helper()
	key := wire.Secret(secret).GossipKey()
	block, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	out := append([]byte{version}, make([]byte, aead.NonceSize())...)
	return aead.Seal(out, out[1:], plain, nil)
}

// SecretsOf makes secrets of 32 bytes each; without arguments it returns nil.
func SecretsOf(list ...[]byte) (secrets []wire.Secret) {
	for _, key := range list {
		if key != nil {
			secrets = append(secrets, wire.Secret(key))
		}
	}
	return secrets
}
