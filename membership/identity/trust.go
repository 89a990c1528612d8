package identity

import (
	"crypto/ed25519"
	"errors"
	"time"
)

// ErrNoCertificate is returned for a member that may be trusted once it has shown its certificate.
var ErrNoCertificate = errors.New("it has not shown its certificate")

// Trust decides which keys may take part in the fleet. Its methods are safe for concurrent use.
type Trust interface {
	// Check returns the time until which a member with this name and key may take part, zero for ever, or the reason
	// why it may not. The certificate is nil if none is known; the error is [ErrNoCertificate] if a certificate could
	// help.
	Check(name string, key ed25519.PublicKey, certificate []byte) (until time.Time, err error)
}
