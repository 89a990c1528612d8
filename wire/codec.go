package wire

import (
	"crypto/ed25519"
	"errors"
	"io"
	"slices"
)

// Codec makes one member's datagrams and reads those of the others. All its methods may be called from several goroutines
// at once: it keeps nothing between two calls, and works in the caller's buffers.
type Codec struct {
	signer signer
	// sealer is nil in a fleet without a secret.
	sealer *sealer
}

// NewCodec returns a codec that signs with key, and seals and opens with secret. A nil secret leaves messages in the clear
// and refuses sealed ones. random is read for every sealed message; it must be as safe for concurrent use as Append is to
// be, and cryptographic outside of tests. It may be nil if secret is.
//
// It fails if key is not a whole Ed25519 key, or if there is a secret and no random.
func NewCodec(key ed25519.PrivateKey, secret *Secret, random io.Reader) (*Codec, error) {
	signer, err := newSigner(key)
	if err != nil {
		return nil, err
	}
	codec := &Codec{signer: signer}
	if secret == nil {
		return codec, nil
	}
	if random == nil {
		return nil, errors.New("a fleet secret needs a source of random nonces")
	}
	codec.sealer, err = newSealer(secret, random)
	if err != nil {
		return nil, err
	}
	return codec, nil
}

// Append appends the datagram that carries m, signed, and sealed if there is a secret. m.From must be the identity of the
// codec's key, and m well formed: receivers drop what is not. Append panics if the source of random nonces fails, because
// two messages sealed under one nonce would give each other away.
//
// Only crypto/ed25519 allocates, three times, if dst has room for MaxDatagram bytes.
func (c *Codec) Append(dst []byte, m *Message) []byte {
	start := len(dst)
	if c.sealer == nil {
		dst = slices.Grow(dst, EnvelopeSize+signedSize)
		dst = appendEnvelope(dst, ClassClear)
		return c.appendSigned(dst, m)
	}
	dst = slices.Grow(dst, EnvelopeSize+sealedSize)
	dst = appendEnvelope(dst, ClassSealed)
	dst = c.sealer.appendNonce(dst)
	dst = c.appendSigned(dst, m)
	return c.sealer.seal(dst, start)
}

func (c *Codec) appendSigned(dst []byte, m *Message) []byte {
	start := len(dst)
	dst = m.Append(dst)
	return c.signer.sign(dst, dst[start:])
}

// Open takes a datagram that carries a message through the checks that need no knowledge of the fleet: length, magic,
// version, class, seal, layout. The signature is left to Verify. It decrypts in place: datagram is overwritten, and nothing
// of it is kept. It does not allocate.
func (c *Codec) Open(datagram []byte) (Unverified, Drop) {
	class, payload, drop := Classify(datagram)
	if drop != 0 {
		return Unverified{}, drop
	}
	switch class {
	case ClassGossip:
		return Unverified{}, DropClass
	case ClassClear:
		if c.sealer != nil {
			return Unverified{}, DropClear
		}
	case ClassSealed:
		if c.sealer == nil {
			return Unverified{}, DropNoSecret
		}
		var ok bool
		if payload, ok = c.sealer.open(datagram); !ok {
			return Unverified{}, DropSeal
		}
	}
	return parseSigned(payload)
}
