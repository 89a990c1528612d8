package membership

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
)

// A sealed packet is laid out as memberlist's own encryption of version 1:
//
//	 0 +------------+
//	   | version  1 |
//	 1 +------------+
//	   | nonce   12 |  random
//	13 +------------+
//	   | ciphertext |  AES-GCM
//	   +------------+
//	   | tag     16 |
//	   +------------+
//
// It is sealed and opened here, so memberlist has no key, and sees no packet that did not open and pass the sieve.
const (
	sealedVersion  = 1
	sealedNonce    = 12
	sealedTag      = 16
	sealedOverhead = 1 + sealedNonce + sealedTag

	// MaxPacket is the longest gossip datagram, in bytes, for [PacketWriter] and [Membership.Deliver]. With the four bytes of the
	// agent's envelope it is below 1400.
	MaxPacket = 1395
)

var (
	errForeignSeal = errors.New("sealed with another secret")
	errMalformed   = errors.New("malformed")
)

// seal seals and opens the gossip of this fleet. Without a key it passes everything.
type seal struct {
	key     []byte
	aead    cipher.AEAD
	scratch sync.Pool
}

// newSeal takes the gossip key: 16, 24 or 32 bytes, or nil.
func newSeal(key []byte) (*seal, error) {
	s := &seal{key: key, scratch: sync.Pool{New: func() any { return new([MaxPacket]byte) }}}
	if key == nil {
		return s, nil
	}
	var err error
	s.aead, err = newAEAD(key)
	return s, err
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("gossip key: %w", err)
	}
	return cipher.NewGCM(block)
}

// open returns the content of a packet, in plain or in the packet itself. It does not allocate.
func (s *seal) open(plain *[MaxPacket]byte, b []byte) ([]byte, error) {
	switch {
	case len(b) == 0 || len(b) > MaxPacket:
		return nil, errMalformed
	case s.aead == nil:
		return b, nil
	case b[0] != sealedVersion || len(b) <= sealedOverhead: // equal: an empty message
		return nil, errMalformed
	}
	content, err := s.aead.Open(plain[:0], b[1:1+sealedNonce], b[1+sealedNonce:], nil)
	if err != nil {
		return nil, errForeignSeal
	}
	return content, nil
}

// seal returns the packet with the content plain.
func (s *seal) seal(plain []byte) []byte {
	if s.aead == nil {
		return plain
	}
	b := make([]byte, 1+sealedNonce, sealedOverhead+len(plain))
	b[0] = sealedVersion
	_, _ = rand.Read(b[1:]) // It never fails.
	return s.aead.Seal(b, b[1:], plain, nil)
}

// streamKeys are what one side of a connection proves its secret with, and seals its frame with; no other connection has the same.
type streamKeys struct {
	proof [proofSize]byte
	aead  cipher.AEAD // nil without a secret
}

// streamKeys derives the keys of one side of a connection. Without a secret the proof only shows that the other side has read the nonces.
func (s *seal) streamKeys(p purpose, side string, nonces []byte) (k streamKeys, err error) {
	key := s.key
	if key == nil {
		key = make([]byte, sha256.Size)
	}
	b, err := hkdf.Key(sha256.New, key, nonces, p.label()+" "+side, proofSize+32)
	if err != nil {
		return k, err
	}
	k.proof = [proofSize]byte(b)
	if s.aead != nil {
		k.aead, err = newAEAD(b[proofSize:])
	}
	return k, err
}
