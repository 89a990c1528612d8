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

// Secret is the fleet's shared secret: 32 random bytes. Keys are derived from it; it is never a key itself. Printed,
// logged or marshalled it is the word "secret"; only Reveal writes it. Package fmt cannot call the methods of an
// unexported field, so use a *Secret there: fmt prints only its address.
type Secret [32]byte

const (
	// redacted is the output for a Secret, except from Reveal.
	redacted = "secret"

	messageKeyLabel = "wanderd message key v1"
	gossipKeyLabel  = "wanderd gossip key v1"
	markLabel       = "wanderd secret mark v1"
)

// MaxSecrets is how many secrets a fleet can have while it changes from one to another.
const MaxSecrets = 2

// ParseSecrets parses one secret, or two in two lines: the first seals, both open. Two secrets must have different
// marks; otherwise a receiver could not tell which of them has sealed a message.
func ParseSecrets(text []byte) ([]Secret, error) {
	var secrets []Secret
	for line := range bytes.Lines(bytes.TrimSpace(text)) {
		secret, err := ParseSecret(line)
		switch {
		case len(secrets) == MaxSecrets:
			return nil, fmt.Errorf("there are more than %d secrets: one line for each", MaxSecrets)
		case err != nil:
			return nil, err
		case len(secrets) > 0 && secret == secrets[0]:
			return nil, errors.New("the two secrets are the same")
		case len(secrets) > 0 && secret.Mark() == secrets[0].Mark():
			return nil, errors.New("the two secrets cannot be told apart by their mark, which happens to one pair in " +
				"256: make another new one")
		}
		secrets = append(secrets, secret)
	}
	if len(secrets) == 0 {
		_, err := ParseSecret(nil)
		return nil, err
	}
	return secrets, nil
}

// ParseSecret parses the output of Reveal: 44 characters of base64. It ignores white space around them. Its errors
// never contain the text.
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
	// The length alone is not enough: with one "=" too few there are 33 bytes.
	raw, err := encoding.AppendDecode(nil, text)
	if err != nil || len(raw) != len(secret) {
		return Secret{}, errors.New("the fleet secret is not 32 bytes of base64: copy the whole file again, " +
			"or make a new one with \"wanderd keygen --secret\"")
	}
	copy(secret[:], raw)
	return secret, nil
}

// Reveal returns the secret as text, for a file that only its owner can read.
func (s Secret) Reveal() string { return base64.StdEncoding.EncodeToString(s[:]) }

// GossipKey returns the key that encrypts gossip.
func (s Secret) GossipKey() [32]byte { return s.derive(gossipKeyLabel) }

// Mark returns the byte that names the secret in a sealed message.
func (s Secret) Mark() byte {
	mark := s.derive(markLabel)
	return mark[0]
}

// derive returns the key for one use of the secret. No key reveals the secret or another key.
func (s Secret) derive(label string) [32]byte {
	key, err := hkdf.Key(sha256.New, s[:], nil, label, 32)
	if err != nil {
		// Happens only for keys longer than 255 hashes, or secrets too short for a FIPS mode.
		panic("wire: cannot derive a key: " + err.Error())
	}
	return [32]byte(key)
}

// String returns the word "secret".
func (s Secret) String() string { return redacted }

// Format writes the word "secret" for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText returns the word "secret".
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
