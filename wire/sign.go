package wire

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha512"
	"errors"
	"fmt"
)

const (
	// signatureContext keeps a signature on a message from meaning anything anywhere else. It ends in the version, which
	// is how the version comes to be signed.
	signatureContext = "wanderd message v" + string(rune('0'+Version))

	// signedSize is the length of a message with its signature, without an extension.
	signedSize = ContentSize + ed25519.SignatureSize
)

// Ed25519ph rather than Ed25519ctx: what is left to verify is then a digest of fixed size, however long the content was,
// and an Unverified is a plain value that owns no buffer.
func signatureOptions() *ed25519.Options {
	return &ed25519.Options{Hash: crypto.SHA512, Context: signatureContext}
}

// signer signs contents with one member's key.
type signer struct {
	key     ed25519.PrivateKey
	options *ed25519.Options
}

func newSigner(key ed25519.PrivateKey) (signer, error) {
	if len(key) != ed25519.PrivateKeySize {
		return signer{}, fmt.Errorf("node key has %d bytes, want %d: replace it by a new one (wanderd keygen)",
			len(key), ed25519.PrivateKeySize)
	}
	// The key carries its public half, and signing trusts it. Two signatures of one content under different public halves
	// would give the private half away.
	whole := ed25519.NewKeyFromSeed(key.Seed())
	if !whole.Equal(key) {
		return signer{}, errors.New("the two halves of the node key do not belong together: " +
			"replace it by a new one (wanderd keygen)")
	}
	return signer{key: whole, options: signatureOptions()}, nil
}

// sign appends the signature of content to dst. crypto/ed25519 allocates three times for it: the signature, and twice RFC
// 8032's prefix for pre-hashed signatures, which is one byte too long for the compiler to keep on the stack.
func (s *signer) sign(dst, content []byte) []byte {
	digest := sha512.Sum512(content)
	signature, err := s.key.Sign(nil, digest[:], s.options)
	if err != nil {
		// Only for keys, digests and contexts of wrong length, or in a FIPS mode that lacks Ed25519.
		panic("wire: cannot sign: " + err.Error())
	}
	return append(dst, signature...)
}

// Unverified is a message that parsed, with what it takes to check its signature later and elsewhere. It is a plain value
// that refers to no buffer. Nothing may act on Message before Verify has returned true.
type Unverified struct {
	Message   Message
	digest    [sha512.Size]byte
	signature [ed25519.SignatureSize]byte
}

// parseSigned splits signed into content, extension and signature.
func parseSigned(signed []byte) (u Unverified, drop Drop) {
	end := len(signed) - ed25519.SignatureSize
	message, ok := Parse(signed[:end])
	if !ok {
		return Unverified{}, DropMalformed
	}
	u.Message = message
	u.digest = sha512.Sum512(signed[:end])
	copy(u.signature[:], signed[end:])
	return u, 0
}

// Verify reports whether the message was signed by the owner of pub, and whether that is who it says it is from. It
// accepts a key of any length. crypto/ed25519 allocates once for it, as it does for signing.
func (u *Unverified) Verify(pub ed25519.PublicKey) bool {
	if len(pub) != ed25519.PublicKeySize || MemberIDOf(pub) != u.Message.From {
		return false
	}
	return ed25519.VerifyWithOptions(pub, u.digest[:], u.signature[:], signatureOptions()) == nil
}
