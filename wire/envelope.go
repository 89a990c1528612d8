package wire

// The first three bytes of every datagram.
const (
	// Magic is the first two bytes. A socket filter can drop all other datagrams.
	Magic = "wd"
	// Version is the third byte. A datagram of another version is dropped and counted.
	Version byte = 4
)

const (
	// EnvelopeSize is the length of magic, version and class, and the offset of the payload.
	EnvelopeSize = 4
	// MaxDatagram bounds a message with its envelope, so that no path fragments it.
	MaxDatagram = 1200
)

// Class is the fourth byte of a datagram. It determines the layout of the rest.
type Class uint8

const (
	// ClassGossip carries memberlist's bytes, opaque here.
	ClassGossip Class = iota + 1
	// ClassSealed carries a message under the fleet's seal.
	ClassSealed
	// ClassClear carries a message without encryption.
	ClassClear
)

// Classify checks a datagram's envelope and returns its class and payload. The payload is a part of datagram, not a
// copy; it is nil if the datagram is dropped.
//
// It drops a message that is shorter than any message or longer than MaxDatagram. Gossip may have any length above 0:
// its bounds are memberlist's setting and the reader's buffer.
func Classify(datagram []byte) (class Class, payload []byte, drop Drop) {
	if len(datagram) < EnvelopeSize {
		return 0, nil, DropSize
	}
	if string(datagram[:len(Magic)]) != Magic {
		return 0, nil, DropMagic
	}
	if datagram[2] != Version {
		return 0, nil, DropVersion
	}
	class, payload = Class(datagram[3]), datagram[EnvelopeSize:]
	fits := false
	switch class {
	case ClassGossip:
		fits = len(payload) > 0
	case ClassSealed:
		fits = len(payload) >= sealedSize && len(datagram) <= MaxDatagram
	case ClassClear:
		fits = len(payload) >= signedSize && len(datagram) <= MaxDatagram
	default:
		return 0, nil, DropClass
	}
	if !fits {
		return 0, nil, DropSize
	}
	return class, payload, 0
}

// AppendGossip appends the datagram that carries payload as gossip.
func AppendGossip(dst, payload []byte) []byte {
	return append(appendEnvelope(dst, ClassGossip), payload...)
}

func appendEnvelope(dst []byte, class Class) []byte {
	return append(append(dst, Magic...), Version, byte(class))
}
