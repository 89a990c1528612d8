package membership

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

func appendWanted(b []byte, ids []wire.MemberID) []byte {
	for _, id := range ids {
		b = append(b, id[:]...)
	}
	return b
}

func parseWanted(b []byte) (ids []wire.MemberID, err error) {
	const size = len(wire.MemberID{})
	if len(b)%size != 0 || len(b) > maxUnverified*size {
		return nil, packets.ErrMalformed
	}
	for chunk := range slices.Chunk(b, size) {
		ids = append(ids, wire.MemberID(chunk))
	}
	return ids, nil
}

// shown is a member's name, key and certificate, as in an answer and in an introduction. It refers to the frame's
// content.
type shown struct {
	name        string
	key         ed25519.PublicKey
	certificate []byte
}

func (c *shown) size() int { return 1 + len(c.name) + len(c.key) + 2 + len(c.certificate) }

func (c *shown) append(b []byte) []byte {
	b = append(append(b, byte(len(c.name))), c.name...)
	b = append(b, c.key...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(c.certificate)))
	return append(b, c.certificate...)
}

// readShown reads the beginning of b: a name, a key, and a certificate, which may be empty. Nothing in it has been
// checked yet.
func readShown(b []byte) (c shown, rest []byte, ok bool) {
	const key = ed25519.PublicKeySize
	if len(b) == 0 {
		return c, nil, false
	}
	name := 1 + int(b[0])
	if len(b) < name+key+2 {
		return c, nil, false
	}
	c.name, b = string(b[1:name]), b[name:]
	c.key, b = b[:key:key], b[key:]
	length := int(binary.BigEndian.Uint16(b))
	if b = b[2:]; length > len(b) || length > maxCertificate {
		return c, nil, false
	}
	c.certificate, b = b[:length:length], b[length:]
	return c, b, true
}

// parseShown reads an answer. Nothing in it has been checked yet.
func parseShown(b []byte) (list []shown, err error) {
	for len(b) > 0 {
		c, rest, ok := readShown(b)
		if !ok || len(c.certificate) == 0 || len(list) == maxUnverified+maxLately || identity.CheckName(c.name) != nil {
			return nil, errNoCertificates
		}
		list, b = append(list, c), rest
	}
	return list, nil
}

const maxLately = 64

// maxIntroduction is the longest introduction, in bytes.
const maxIntroduction = 2 + identity.MaxName + ed25519.PublicKeySize + 2 + maxCertificate + ed25519.SignatureSize
