package identity

import (
	"crypto/ed25519"
	"errors"

	"github.com/wanderd/wanderd/wire"
)

// Sign signs a statement. The context keeps the signature from being valid for anything else.
func Sign(key ed25519.PrivateKey, statement []byte, context string) []byte {
	signature, err := key.Sign(nil, statement, &ed25519.Options{Context: context})
	if err != nil {
		panic("identity: cannot sign: " + err.Error()) // it fails only if the context is too long
	}
	return signature
}

// IsSigned reports whether the owner of a key has signed a statement in this context.
func IsSigned(key ed25519.PublicKey, statement, signature []byte, context string) bool {
	return ed25519.VerifyWithOptions(key, statement, signature, &ed25519.Options{Context: context}) == nil
}

// ErrForged is returned for a signature that was not made by the owner of the key.
var ErrForged = errors.New("its signature is not valid")

// Judge returns the reason why a member that shows a certificate is not trusted; a nil certificate means that it shows
// none.
type Judge func(name string, id wire.MemberID, key ed25519.PublicKey, certificate []byte) error
