package membership

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
)

// These numbers are memberlist's: message types, and the layout of its encryption.
//
//	packet  [version 1][nonce 12][ciphertext][tag 16]
//	stream  [encryptMsg][length 4], then a packet of that length
const (
	pingMsg     = 0
	ackRespMsg  = 2
	pushPullMsg = 6
	encryptMsg  = 10
	errMsg      = 13

	// sealedVersion is the only encryption version that passes. A packet of version 0 whose padding is wrong crashes
	// memberlist: pkcs7decode slices out of range.
	sealedVersion  = 1
	sealedNonce    = 12
	sealedTag      = 16
	sealedOverhead = 1 + sealedNonce + sealedTag

	// MaxPacket is the longest gossip datagram, in bytes, for [PacketWriter] and [Membership.Deliver]. With the four bytes of the
	// agent's envelope it is below 1400.
	MaxPacket = 1395
	// streamHeaderSize is the number of bytes by which checkStream judges a stream.
	streamHeaderSize = 1 + 4 + 1
	// maxStream is the longest stream, in bytes. A full sync takes some 200 bytes a member, so this is enough for 20,000 members.
	maxStream = 4 << 20
)

var (
	errForeignSeal = errors.New("sealed with another secret")
	errNotSealed   = errors.New("not sealed, but this member has a secret")
	errSealed      = errors.New("sealed, but this member has no secret")
	errMalformed   = errors.New("malformed")
)

// seal recognises gossip of this fleet. Without a key it passes everything that could be gossip.
type seal struct {
	aead    cipher.AEAD
	scratch sync.Pool
}

// newSeal takes memberlist's gossip key: 16, 24 or 32 bytes, or nil.
func newSeal(key []byte) (*seal, error) {
	s := &seal{scratch: sync.Pool{New: func() any { return new([MaxPacket]byte) }}}
	if key == nil {
		return s, nil
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("gossip key: %w", err)
	}
	s.aead, err = cipher.NewGCM(block)
	return s, err
}

// checkPacket returns nil if memberlist may see b. It does not allocate.
func (s *seal) checkPacket(b []byte) error {
	switch {
	case len(b) == 0 || len(b) > MaxPacket:
		return errMalformed
	case s.aead == nil && b[0] > errMsg:
		return errMalformed
	case s.aead == nil:
		return nil
	case b[0] != sealedVersion || len(b) <= sealedOverhead: // equal: an empty message
		return errMalformed
	}
	plain := s.scratch.Get().(*[MaxPacket]byte)
	defer s.scratch.Put(plain)
	if _, err := s.aead.Open(plain[:0], b[1:1+sealedNonce], b[1+sealedNonce:], nil); err != nil {
		return errForeignSeal
	}
	return nil
}

// checkStream returns nil if memberlist may read a stream that begins with header, which has streamHeaderSize bytes.
func (s *seal) checkStream(header []byte) error {
	if s.aead == nil {
		switch header[0] {
		case pingMsg, ackRespMsg, pushPullMsg, errMsg:
			return nil
		case encryptMsg:
			return errSealed
		}
		return errMalformed
	}
	if header[0] != encryptMsg {
		return errNotSealed
	}
	length := binary.BigEndian.Uint32(header[1:])
	// memberlist would read the first byte of an empty message.
	if length <= sealedOverhead || length > maxStream || header[5] != sealedVersion {
		return errMalformed
	}
	return nil
}
