package admission

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/wire"
)

var errNoCertificates = errors.New("it is no list of certificates")

// AppendWanted writes a question for the certificates of these members.
func AppendWanted(b []byte, ids []wire.MemberID) []byte {
	for _, id := range ids {
		b = append(b, id[:]...)
	}
	return b
}

// ParseWanted reads a question for certificates.
func ParseWanted(b []byte) (ids []wire.MemberID, err error) {
	const size = len(wire.MemberID{})
	if len(b)%size != 0 || len(b) > MaxUnverified*size {
		return nil, packets.ErrMalformed
	}
	for chunk := range slices.Chunk(b, size) {
		ids = append(ids, wire.MemberID(chunk))
	}
	return ids, nil
}

// Shown is a member's name, key and certificate, as in an answer and in an introduction. It refers to the frame's
// content.
type Shown struct {
	Name        string
	Key         ed25519.PublicKey
	Certificate []byte
}

// Size is how many bytes Append writes.
func (c *Shown) Size() int { return 1 + len(c.Name) + len(c.Key) + 2 + len(c.Certificate) }

// Append writes a name, a key and a certificate.
func (c *Shown) Append(b []byte) []byte {
	b = append(append(b, byte(len(c.Name))), c.Name...)
	b = append(b, c.Key...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(c.Certificate)))
	return append(b, c.Certificate...)
}

// readShown reads the beginning of b: a name, a key, and a certificate, which may be empty. Nothing in it has been
// checked yet.
func readShown(b []byte) (c Shown, rest []byte, ok bool) {
	const key = ed25519.PublicKeySize
	if len(b) == 0 {
		return c, nil, false
	}
	name := 1 + int(b[0])
	if len(b) < name+key+2 {
		return c, nil, false
	}
	c.Name, b = string(b[1:name]), b[name:]
	c.Key, b = b[:key:key], b[key:]
	length := int(binary.BigEndian.Uint16(b))
	if b = b[2:]; length > len(b) || length > MaxCertificate {
		return c, nil, false
	}
	c.Certificate, b = b[:length:length], b[length:]
	return c, b, true
}

// ParseShown reads an answer. Nothing in it has been checked yet.
func ParseShown(b []byte) (list []Shown, err error) {
	for len(b) > 0 {
		c, rest, ok := readShown(b)
		if !ok || len(c.Certificate) == 0 || len(list) == MaxUnverified+MaxLately || identity.CheckName(c.Name) != nil {
			return nil, errNoCertificates
		}
		list, b = append(list, c), rest
	}
	return list, nil
}

// MaxLately is how many recently admitted members an answer shows, in addition to those that were asked for.
const MaxLately = 64

// MaxIntroduction is the longest introduction, in bytes.
const MaxIntroduction = 2 + identity.MaxName + ed25519.PublicKeySize + 2 + MaxCertificate + ed25519.SignatureSize
