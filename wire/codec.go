package wire

import (
	"crypto/ed25519"
	"errors"
	"io"
	"slices"
)

// Codec makes one member's datagrams and reads the datagrams of other members. Its methods are safe for concurrent use:
// it keeps no state between two calls, and works in the caller's buffers.
type Codec struct {
	key     ed25519.PrivateKey
	options *ed25519.Options
	// sealers is empty in a fleet without a secret. The first one seals, and all of them open.
	sealers []*sealer
}

// NewCodec returns a codec that signs with key, seals with the first secret and opens with all: there are two while a
// fleet changes its secret. Without a secret it does not encrypt messages, and refuses sealed ones. random is read for
// every sealed message. It must be cryptographic outside of tests, and safe for concurrent use if Append is called
// concurrently. It may be nil if there is no secret.
//
// It returns an error if key is not a whole Ed25519 key, or if there is a secret but no random.
func NewCodec(key ed25519.PrivateKey, random io.Reader, secrets ...Secret) (*Codec, error) {
	key, err := wholeKey(key)
	if err != nil {
		return nil, err
	}
	codec := &Codec{key: key, options: signatureOptions()}
	if len(secrets) > 0 && random == nil {
		return nil, errors.New("a fleet secret needs a source of random nonces")
	}
	for _, secret := range secrets {
		sealer, err := newSealer(secret, random)
		if err != nil {
			return nil, err
		}
		codec.sealers = append(codec.sealers, sealer)
	}
	return codec, nil
}

// Append appends the datagram that carries m, signed, and sealed if there is a secret. m.From must be the identity of
// the codec's key, and m well formed: receivers drop other messages. Append panics if the source of random nonces
// fails, because two messages sealed with one nonce would reveal their content.
//
// If dst has room for MaxDatagram bytes, only crypto/ed25519 allocates, three times.
func (c *Codec) Append(dst []byte, m *Message) []byte {
	start := len(dst)
	if len(c.sealers) == 0 {
		dst = slices.Grow(dst, EnvelopeSize+signedSize)
		dst = appendEnvelope(dst, ClassClear)
		return c.sign(m.Append(dst), start+EnvelopeSize)
	}
	dst = slices.Grow(dst, EnvelopeSize+sealedSize)
	dst = appendEnvelope(dst, ClassSealed)
	dst = c.sealers[0].appendNonce(dst)
	dst = c.sign(m.Append(dst), len(dst))
	return c.sealers[0].seal(dst, start)
}

// Open makes the checks of a message that need no knowledge of the fleet: length, magic, version, class, seal, layout.
// Verify checks the signature later. Open decrypts in place, so it overwrites datagram; it does not keep it. It does
// not allocate.
func (c *Codec) Open(datagram []byte) (Unverified, Drop) {
	class, payload, drop := Classify(datagram)
	if drop != 0 {
		return Unverified{}, drop
	}
	switch class {
	case ClassGossip:
		return Unverified{}, DropClass
	case ClassClear:
		if len(c.sealers) > 0 {
			return Unverified{}, DropClear
		}
	case ClassSealed:
		if len(c.sealers) == 0 {
			return Unverified{}, DropNoSecret
		}
		by := c.sealers[0]
		for _, other := range c.sealers[1:] {
			if datagram[EnvelopeSize] == other.mark {
				by = other
			}
		}
		var ok bool
		if payload, ok = by.open(datagram); !ok {
			return Unverified{}, DropSeal
		}
	}
	return parseSigned(payload)
}
