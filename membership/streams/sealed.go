package streams

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/wire"
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
// It is sealed and opened here, so memberlist has no key, and sees no packet that did not open and pass the filter.
const (
	sealedVersion  = 1
	sealedNonce    = 12
	sealedTag      = 16
	SealedOverhead = 1 + sealedNonce + sealedTag

	// MaxPacket is the longest gossip datagram, in bytes, for Config.Send and [Membership.Deliver]. With the four bytes
	// of the agent's envelope it is below 1400.
	MaxPacket = 1395
)

// Seal seals and opens the gossip of this fleet. Without a key it passes everything.
type Seal struct {
	// Clear is true if there is no key.
	Clear   bool
	Scratch sync.Pool
	// keys are the current keys: the first seals, all open.
	keys atomic.Pointer[[]sealKey]
}

// sealKey is the key of gossip that belongs to one secret. A connection names it by the secret's mark.
type sealKey struct {
	key  [32]byte
	mark byte
	aead cipher.AEAD
}

// NewSeal returns a seal that seals with the first of these secrets, and opens with all of them.
func NewSeal(secrets []wire.Secret) *Seal {
	s := &Seal{Clear: len(secrets) == 0, Scratch: sync.Pool{New: func() any { return new([MaxPacket]byte) }}}
	s.Set(secrets)
	return s
}

// Set replaces the secrets.
func (s *Seal) Set(secrets []wire.Secret) {
	list := make([]sealKey, len(secrets))
	for i, secret := range secrets {
		key := secret.GossipKey()
		list[i] = sealKey{key, secret.Mark(), newAEAD(key)}
	}
	s.keys.Store(&list)
}

func newAEAD(key [32]byte) cipher.AEAD {
	block, err := aes.NewCipher(key[:])
	if err == nil {
		var aead cipher.AEAD
		if aead, err = cipher.NewGCM(block); err == nil {
			return aead
		}
	}
	panic("membership: cannot seal: " + err.Error()) // only a key or a block of another size fails
}

// Open returns the content of a packet, in plain or in the packet itself, and the index of the key that has opened it.
// It does not allocate.
func (s *Seal) Open(plain *[MaxPacket]byte, b []byte) (content []byte, by int, err error) {
	switch {
	case len(b) == 0 || len(b) > MaxPacket:
		return nil, 0, packets.ErrMalformed
	case s.Clear:
		return b, 0, nil
	case b[0] != sealedVersion || len(b) <= SealedOverhead: // equal: an empty message
		return nil, 0, packets.ErrMalformed
	}
	for i, k := range *s.keys.Load() {
		if content, err = k.aead.Open(plain[:0], b[1:1+sealedNonce], b[1+sealedNonce:], nil); err == nil {
			return content, i, nil
		}
	}
	return nil, 0, packets.ErrForeignSeal
}

// Seal returns the packet with the content plain.
func (s *Seal) Seal(plain []byte) []byte {
	if s.Clear {
		return plain
	}
	b := make([]byte, 1+sealedNonce, SealedOverhead+len(plain))
	b[0] = sealedVersion
	_, _ = rand.Read(b[1:]) // It never fails.
	return (*s.keys.Load())[0].aead.Seal(b, b[1:], plain, nil)
}

// mark puts the mark of the key that seals into a caller's nonce, so that the acceptor uses the same.
func (s *Seal) mark(nonce []byte) {
	if !s.Clear {
		nonce[0] = (*s.keys.Load())[0].mark
	}
}

// marked returns the key that the caller's nonce names; nil if there are no keys. If the nonce names no key, it returns
// the first key: the sender cannot prove that it has that one.
func (s *Seal) marked(nonces []byte) *sealKey {
	if s.Clear {
		return nil
	}
	keys := *s.keys.Load()
	for i := range keys {
		if keys[i].mark == nonces[0] {
			return &keys[i]
		}
	}
	return &keys[0]
}

// streamKeys are the keys with which one side of a connection proves its secret and seals its frame; no other
// connection has the same keys.
type streamKeys struct {
	proof [ProofSize]byte
	aead  cipher.AEAD // nil without a secret
}

// streamKeys derives the keys of one side of a connection. Without a secret the proof only shows that the other side
// has read the nonces.
func (s *Seal) streamKeys(p Purpose, side string, nonces []byte) (k streamKeys) {
	var key [32]byte
	marked := s.marked(nonces)
	if marked != nil {
		key = marked.key
	}
	b, err := hkdf.Key(sha256.New, key[:], nonces, p.label()+" "+side, ProofSize+len(key))
	if err != nil {
		panic("membership: cannot derive a key: " + err.Error()) // see wire.Secret
	}
	k.proof = [ProofSize]byte(b)
	if marked != nil {
		k.aead = newAEAD([32]byte(b[ProofSize:]))
	}
	return k
}
