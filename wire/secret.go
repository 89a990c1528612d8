package wire

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
)

// Secret is the fleet's shared secret: 32 random bytes. Keys are derived from it; it is never used as one. However it is
// printed, logged or marshalled, what comes out is the word "secret"; only Reveal writes it. The exception is an unexported
// field, whose methods package fmt cannot call: there, keep a *Secret, of which it prints no more than the address.
type Secret [32]byte

const (
	// redacted is what a Secret looks like to everything but Reveal.
	redacted = "secret"

	messageKeyLabel = "wanderd message key v1"
	gossipKeyLabel  = "wanderd gossip key v1"
)

// ParseSecret reads what Reveal writes: 44 characters of base64. White space around them is ignored. Its errors say
// nothing of what text contains.
func ParseSecret(text []byte) (Secret, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return Secret{}, errors.New("the fleet secret is empty: make one with \"wanderd keygen --secret\"")
	}
	var secret Secret
	encoding := base64.StdEncoding.Strict()
	if len(text) != encoding.EncodedLen(len(secret)) {
		return Secret{}, fmt.Errorf("the fleet secret has %d characters, want %d of base64 in one line: "+
			"make one with \"wanderd keygen --secret\"", len(text), encoding.EncodedLen(len(secret)))
	}
	// The length alone does not say it all: one "=" too few is 33 bytes.
	raw, err := encoding.AppendDecode(nil, text)
	if err != nil || len(raw) != len(secret) {
		return Secret{}, errors.New("the fleet secret is not 32 bytes of base64: copy the whole file again, " +
			"or make a new one with \"wanderd keygen --secret\"")
	}
	copy(secret[:], raw)
	return secret, nil
}

// Reveal returns the secret itself in its written form, for a file that only its owner can read.
func (s Secret) Reveal() string { return base64.StdEncoding.EncodeToString(s[:]) }

// GossipKey returns the key that encrypts gossip.
func (s Secret) GossipKey() [32]byte { return s.derive(gossipKeyLabel) }

// derive returns the key for one use of the secret. No key tells anything about the secret or about another key.
func (s Secret) derive(label string) [32]byte {
	key, err := hkdf.Key(sha256.New, s[:], nil, label, 32)
	if err != nil {
		// Only for keys longer than 255 hashes, or secrets too short for a FIPS mode.
		panic("wire: cannot derive a key: " + err.Error())
	}
	return [32]byte(key)
}

// String returns the word "secret".
func (s Secret) String() string { return redacted }

// GoString returns the word "secret".
func (s Secret) GoString() string { return redacted }

// Format writes the word "secret", whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText returns the word "secret".
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
