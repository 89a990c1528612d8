package wire

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha512"
	"errors"
	"fmt"
)

const (
	// signatureContext makes a signature on a message invalid for any other use. It ends with the version, so the
	// version is signed.
	signatureContext = "wanderd message v" + string(rune('0'+Version))

	// signedSize is the length of a message with its signature, without an extension.
	signedSize = ContentSize + ed25519.SignatureSize
)

// Ed25519ph and not Ed25519ctx: verification then needs only a digest of fixed size, so an Unverified is a plain value
// without a buffer.
func signatureOptions() *ed25519.Options {
	return &ed25519.Options{Hash: crypto.SHA512, Context: signatureContext}
}

// wholeKey returns a copy of a private key that is fit to sign.
func wholeKey(key ed25519.PrivateKey) (ed25519.PrivateKey, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("node key has %d bytes, want %d: replace it by a new one (wanderd keygen)",
			len(key), ed25519.PrivateKeySize)
	}
	// The key contains the public key, and signing trusts it. Two signatures of one content with different public keys
	// would reveal the private key.
	whole := ed25519.NewKeyFromSeed(key.Seed())
	if !whole.Equal(key) {
		return nil, errors.New("the private and public key of the node key do not match: " +
			"replace it by a new one (wanderd keygen)")
	}
	return whole, nil
}

// sign appends the signature of the content at the end of dst, which starts at start. crypto/ed25519 allocates three
// times: the signature, and twice RFC 8032's prefix for pre-hashed signatures, which is one byte too long for the
// stack.
func (c *Codec) sign(dst []byte, start int) []byte {
	digest := sha512.Sum512(dst[start:])
	signature, err := c.key.Sign(nil, digest[:], c.options)
	if err != nil {
		// Happens only for keys, digests and contexts of wrong length, or in a FIPS mode without Ed25519.
		panic("wire: cannot sign: " + err.Error())
	}
	return append(dst, signature...)
}

// Unverified is a parsed message with the data to check its signature later. It is a plain value that refers to no
// buffer. Do not act on Message before Verify has returned true.
type Unverified struct {
	Message   Message
	digest    [sha512.Size]byte
	signature [ed25519.SignatureSize]byte
}

// parseSigned splits signed into content, extension and signature.
func parseSigned(signed []byte) (u Unverified, drop Drop) {
	end := len(signed) - ed25519.SignatureSize
	var ok bool
	if u.Message, ok = Parse(signed[:end]); !ok {
		return Unverified{}, DropMalformed
	}
	u.digest = sha512.Sum512(signed[:end])
	copy(u.signature[:], signed[end:])
	return u, 0
}

// Verify reports whether the message is signed with pub's private key and From is the identity of pub. pub may have any
// length. crypto/ed25519 allocates once.
func (u *Unverified) Verify(pub ed25519.PublicKey) bool {
	if len(pub) != ed25519.PublicKeySize || MemberIDOf(pub) != u.Message.From {
		return false
	}
	return ed25519.VerifyWithOptions(pub, u.digest[:], u.signature[:], signatureOptions()) == nil
}
