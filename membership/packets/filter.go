// Package packets decides what memberlist may see, and reads what its messages say.
package packets

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/wanderd/wanderd/membership/broadcast"
	"github.com/wanderd/wanderd/membership/identity"
)

// These numbers are memberlist's types of messages.
const (
	PingMsg         = 0
	IndirectPingMsg = 1
	AckRespMsg      = 2
	SuspectMsg      = 3
	AliveMsg        = 4
	DeadMsg         = 5
	PushPullMsg     = 6
	CompoundMsg     = 7
	UserMsg         = 8
	NackRespMsg     = 11
	HasCrcMsg       = 12
	ErrMsg          = 13
)

const (
	// CrcHeader is the length of the optional header before a packet: its type and a checksum.
	CrcHeader = 5
	// maxNode is the longest node name, in bytes: a name, a tilde, and an identity in hexadecimal digits.
	maxNode = identity.MaxName + 1 + 32
	// maxField is the longest text or bytes in other fields, such as the metadata of a node.
	maxField = memberlist.MetaMaxSize
)

// The packet filter passes what memberlist may see: messages of the types that its members send each other, in which
// every length is true, and every name is printable and not too long. memberlist checks none of this before it
// allocates, and logs and keeps names of any length.

// Ping is the part of a ping that matters for its answer.
type Ping struct {
	seq uint64
	// to is where memberlist sends the answer; the zero value means to the sender.
	to netip.AddrPort
	// Size is the length of the ping in bytes; 0 means that there is no ping.
	Size int
}

// Filter returns nil if memberlist may see the content of a datagram, and the ping with which the content begins. It
// does not allocate.
//
// inClear is true if the gossip is not authenticated. Then a packet must not ask to ping a third member, because
// anybody could have anybody pinged. It may carry one ping at most, as the first of its messages.
func Filter(b []byte, inClear bool) (p Ping, err error) {
	ok := eachPart(b, func(at int, part []byte) (ok bool) {
		switch {
		case part[0] != PingMsg || at > 0 && !inClear:
			return passes(part, inClear)
		case at == 0:
			p, ok = readPing(part)
		}
		return ok
	})
	if !ok {
		return p, ErrMalformed
	}
	return p, nil
}

// eachPart shows the messages of a packet, until show returns false; a compound packet has several. It returns false
// then, or if a length is wrong.
func eachPart(b []byte, show func(at int, part []byte) bool) bool {
	if len(b) > CrcHeader && b[0] == HasCrcMsg {
		b = b[CrcHeader:]
	}
	if len(b) == 0 || b[0] != CompoundMsg {
		return len(b) > 0 && show(0, b)
	}
	if len(b) < 2 || b[1] == 0 || len(b) < 2+2*int(b[1]) {
		return false
	}
	lengths, rest := b[2:2+2*int(b[1])], b[2+2*int(b[1]):]
	for at := range len(lengths) / 2 {
		length := int(binary.BigEndian.Uint16(lengths[2*at:]))
		if length == 0 || length > len(rest) || !show(at, rest[:length]) {
			return false
		}
		rest = rest[length:]
	}
	return true
}

// passes judges one message of a packet.
func passes(b []byte, inClear bool) bool {
	switch b[0] {
	case IndirectPingMsg:
		if inClear {
			return false
		}
	case UserMsg:
		_, err := broadcast.Parse(b[1:])
		return err == nil
	case PingMsg, AckRespMsg, NackRespMsg, SuspectMsg, AliveMsg, DeadMsg:
	default:
		return false
	}
	_, ok := filterFields(b[1:])
	return ok
}

// filterFields checks one map: no incarnation in it may be too high.
func filterFields(b []byte) (rest []byte, ok bool) {
	var incarnation uint64
	rest, ok = readFields(b, func(key []byte, e field) {
		if string(key) == "Incarnation" {
			incarnation = max(incarnation, e.number)
		}
	})
	return rest, ok && (incarnation <= aDay || incarnation <= HighestIncarnation(time.Now()))
}

const aDay = 24 * 60 * 60

// HighestIncarnation returns the highest incarnation that is believed. A member contradicts a statement about itself
// with a higher incarnation, so one near the end of the numbers would silence it for good. A clock can explain one
// incarnation for each second since 2000, and a day more. Honest members stay far below. A member that is raised to the
// bound can have a higher incarnation a second later.
func HighestIncarnation(now time.Time) uint64 {
	return uint64(max(now.Unix()-time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), 0)) + aDay
}

// readPing reads the fields that matter for the answer to a ping.
func readPing(b []byte) (p Ping, ok bool) {
	p.Size = len(b)
	var host, port field
	_, ok = readFields(b[1:], func(key []byte, e field) {
		switch string(key) {
		case "SeqNo":
			p.seq = e.number
		case "SourceAddr":
			host = e
		case "SourcePort":
			port = e
		}
	})
	if len(host.text) > 0 && port.number > 0 {
		addr, is := netip.AddrFromSlice(host.text)
		if !is || port.number > 1<<16-1 {
			return p, false
		}
		p.to = netip.AddrPortFrom(addr.Unmap(), uint16(port.number))
	}
	return p, ok
}

// readFields checks the lengths of one map, shows its entries, and returns the bytes after the map.
func readFields(b []byte, show func(key []byte, e field)) (rest []byte, ok bool) {
	f, entries, ok := readMap(b)
	if !ok {
		return nil, false
	}
	for range entries {
		key, _ := f.value()
		e, ok := f.value()
		if key.text == nil || !ok || len(e.text) > maxField {
			return nil, false
		}
		switch string(key.text) {
		case "Node", "Name", "From", "SourceNode":
			if len(e.text) > maxNode || !identity.Printable(e.text) {
				return nil, false
			}
		case "Error": // it is logged
			if !identity.Printable(e.text) {
				return nil, false
			}
		case "Vsn": // memberlist reads six numbers from it
			if len(e.text) != 0 && len(e.text) != 6 {
				return nil, false
			}
		}
		if show != nil {
			show(key.text, e)
		}
	}
	return f.rest, true
}

// FilterStream returns nil if memberlist may see the content of a stream. A header must announce exactly as many nodes,
// and as many bytes after them, as there are.
func FilterStream(b []byte) error {
	if len(b) == 0 {
		return ErrMalformed
	}
	switch b[0] {
	case PingMsg, AckRespMsg, ErrMsg:
		if _, ok := readFields(b[1:], nil); !ok {
			return ErrMalformed
		}
		return nil
	case PushPullMsg:
	default:
		return ErrMalformed
	}
	var nodes, state uint64
	rest, ok := readFields(b[1:], func(key []byte, e field) {
		switch string(key) {
		case "Nodes":
			nodes = e.number
		case "UserStateLen":
			state = e.number
		}
	})
	for ; ok && nodes > 0; nodes-- {
		rest, ok = filterFields(rest)
	}
	if !ok || state != uint64(len(rest)) {
		return ErrMalformed
	}
	return nil
}

// ErrMalformed is returned for content that no member sends.
var ErrMalformed = errors.New("malformed")

// ErrForeignSeal is returned for content that no secret of this fleet opens.
var ErrForeignSeal = errors.New("sealed with another secret")
