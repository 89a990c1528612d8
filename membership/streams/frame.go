package streams

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/wanderd/wanderd/membership/packets"
)

// Each side of a connection sends one frame, which is all that memberlist writes at once:
//
//	0 +------------+
//	  | length   4 |  big-endian, of what follows
//	4 +------------+
//	  | content    |  with a secret under AES-GCM, by a key of this connection and this side: the nonce is zero
//	  +------------+
const (
	frameHeader = 4
	// maxFrame is the length of the longest frame with a secret, in bytes, maxClear without one. A full sync takes some
	// 200 bytes a member, so they are enough for 20,000 and 650 members.
	maxFrame = 4 << 20
	maxClear = 128 << 10
	// frameChunk is how much is allocated at a time, so that nothing is allocated for bytes that do not come.
	frameChunk = 16 << 10
	// FrameShort is the length of a frame in a fleet of 300 members. Longer frames come in turns, because they take
	// memory.
	FrameShort = 64 << 10
)

// ErrTooLong is returned for a frame that is longer than its kind may be.
var ErrTooLong = errors.New("longer than a message may be")

// readFrame reads a frame and opens it. Its content has at most most bytes. It calls long before it takes more
// than FrameShort.
func readFrame(r io.Reader, keys *streamKeys, most int, long func() error) ([]byte, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	length := int(binary.BigEndian.Uint32(header[:]))
	if keys.aead != nil {
		most += sealedTag
	}
	if length > most {
		return nil, fmt.Errorf("%d bytes: %w", length, ErrTooLong)
	}
	var content []byte
	for len(content) < length {
		at := len(content)
		if at == FrameShort {
			if err := long(); err != nil {
				return nil, err
			}
			content = append(make([]byte, 0, length), content...)
		}
		content = append(content, make([]byte, min(frameChunk, length-at))...)
		if _, err := io.ReadFull(r, content[at:]); err != nil {
			return nil, err
		}
	}
	if keys.aead == nil {
		return content, nil
	}
	plain, err := keys.aead.Open(content[:0], make([]byte, sealedNonce), content, nil)
	if err != nil {
		return nil, packets.ErrForeignSeal
	}
	return plain, nil
}

// appendFrame returns the frame with the content plain.
func appendFrame(plain []byte, keys *streamKeys) []byte {
	b := make([]byte, frameHeader, frameHeader+len(plain)+sealedTag)
	if keys.aead == nil {
		b = append(b, plain...)
	} else {
		b = keys.aead.Seal(b, make([]byte, sealedNonce), plain, nil)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-frameHeader))
	return b
}
