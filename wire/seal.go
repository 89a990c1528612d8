package wire

import (
	"crypto/cipher"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	sealNonceSize = chacha20poly1305.NonceSizeX

	// sealedSize is the length of a sealed message after the envelope, without an extension.
	sealedSize = sealNonceSize + signedSize + chacha20poly1305.Overhead
)

// sealer seals and opens with the fleet's message key. The extended nonce is long enough for random nonces of all
// members, so no counter has to survive a restart.
type sealer struct {
	aead   cipher.AEAD
	mark   byte
	random io.Reader
}

func newSealer(secret Secret, random io.Reader) (*sealer, error) {
	key := secret.derive(messageKeyLabel)
	aead, err := chacha20poly1305.NewX(key[:])
	if err != nil {
		return nil, fmt.Errorf("cannot seal messages: %w", err)
	}
	return &sealer{aead: aead, mark: secret.Mark(), random: random}, nil
}

// appendNonce appends a nonce: the secret's mark and 23 random bytes, which are enough for the messages of a fleet's
// life.
func (s *sealer) appendNonce(dst []byte) []byte {
	start := len(dst)
	var blank [sealNonceSize]byte
	dst = append(dst, blank[:]...)
	if _, err := io.ReadFull(s.random, dst[start:]); err != nil {
		panic("wire: no random nonce to seal with: " + err.Error())
	}
	dst[start] = s.mark
	return dst
}

// seal encrypts the content and signature at the end of dst, in place if dst has room for the tag, and appends the tag.
// The datagram starts at start, with its envelope and nonce.
func (s *sealer) seal(dst []byte, start int) []byte {
	nonce := start + EnvelopeSize
	plain := nonce + sealNonceSize
	return s.aead.Seal(dst[:plain], dst[nonce:plain], dst[plain:], dst[start:nonce])
}

// open decrypts a datagram in place and returns content and signature. If ok is false, the datagram is overwritten.
func (s *sealer) open(datagram []byte) (signed []byte, ok bool) {
	const nonce, sealed = EnvelopeSize, EnvelopeSize + sealNonceSize
	signed, err := s.aead.Open(datagram[sealed:sealed], datagram[nonce:sealed], datagram[sealed:], datagram[:nonce])
	return signed, err == nil
}
