package wire

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// MemberID identifies one agent: the first 16 bytes of a SHA-256 hash of a label and its Ed25519 public key. The zero
// value is the paper's "distinguished NULL value" (Ciuffoletti, section 4) and identifies no member.
type MemberID [16]byte

// MemberIDOf returns the identity of a public key. Different keys are different members.
func MemberIDOf(pub ed25519.PublicKey) MemberID {
	const label = "wanderd member v1\x00"
	var room [len(label) + ed25519.PublicKeySize]byte
	sum := sha256.Sum256(append(append(room[:0], label...), pub...))
	return MemberID(sum[:16])
}

// ParseMemberID parses 32 hexadecimal digits, the output of String.
func ParseMemberID(s string) (MemberID, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(MemberID{}) {
		return MemberID{}, fmt.Errorf("member identity %q: want 32 hexadecimal digits", s)
	}
	return MemberID(b), nil
}

// MarshalText returns all 32 hexadecimal digits.
func (id MemberID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

// UnmarshalText reads what MarshalText writes.
func (id *MemberID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseMemberID(string(text))
	return err
}

// String returns all 32 hexadecimal digits.
func (id MemberID) String() string { return hex.EncodeToString(id[:]) }

// Short returns the first eight hexadecimal digits, enough for a log line.
func (id MemberID) Short() string { return hex.EncodeToString(id[:4]) }

// Hint returns the beginning of the identity, the digits of Short. It is enough to find a member in a view, but proves
// nothing.
func (id MemberID) Hint() uint32 { return binary.BigEndian.Uint32(id[:]) }

// IsZero reports whether id is the zero value.
func (id MemberID) IsZero() bool { return id == MemberID{} }

// Compare orders identities by their bytes.
func (id MemberID) Compare(other MemberID) int { return bytes.Compare(id[:], other[:]) }
