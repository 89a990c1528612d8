package membership

import (
	"crypto/ed25519"
	"errors"
)

func signAs(key ed25519.PrivateKey, statement []byte, context string) []byte {
	signature, err := key.Sign(nil, statement, &ed25519.Options{Context: context})
	if err != nil {
		panic("membership: cannot sign: " + err.Error()) // only a context that is too long fails
	}
	return signature
}

func isSigned(key ed25519.PublicKey, statement, signature []byte, context string) bool {
	return ed25519.VerifyWithOptions(key, statement, signature, &ed25519.Options{Context: context}) == nil
}

var errForged = errors.New("its signature is not valid")
