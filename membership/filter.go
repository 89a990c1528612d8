package membership

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
	pingMsg         = 0
	indirectPingMsg = 1
	ackRespMsg      = 2
	suspectMsg      = 3
	aliveMsg        = 4
	deadMsg         = 5
	pushPullMsg     = 6
	compoundMsg     = 7
	userMsg         = 8
	nackRespMsg     = 11
	hasCrcMsg       = 12
	errMsg          = 13
)

const (
	// crcHeader is the length of what may stand before a packet: its type and a checksum.
	crcHeader = 5
	// maxNode is the longest node name, in bytes: a name, a tilde, and an identity in hexadecimal digits.
	maxNode = identity.MaxName + 1 + 32
	// maxField is the longest text or bytes in other fields, such as the metadata of a node.
	maxField = memberlist.MetaMaxSize
)

// The packet filter passes what memberlist may see: messages of the types that its members send each other, in which
// every length is true, and every name is printable and not too long. memberlist checks none of this before it
// allocates, and logs and keeps names of any length.

// ping is the part of a ping that matters for its answer.
type ping struct {
	seq uint64
	// to is where memberlist sends the answer; the zero value means to the sender.
	to netip.AddrPort
	// size is the length of the ping in bytes; 0 is no ping.
	size int
}

// filterPacket returns nil if memberlist may see the content of a datagram, and the ping with which the content begins.
// It does not allocate.
//
// inClear says that the gossip is not authenticated. Then a packet carries no request to ping a third member, because
// anybody could have anybody pinged. It carries one ping at most, as the first of its messages.
func filterPacket(b []byte, inClear bool) (p ping, err error) {
	ok := eachPart(b, func(at int, part []byte) (ok bool) {
		switch {
		case part[0] != pingMsg || at > 0 && !inClear:
			return passes(part, inClear)
		case at == 0:
			p, ok = readPing(part)
		}
		return ok
	})
	if !ok {
		return p, errMalformed
	}
	return p, nil
}

// eachPart shows the messages of a packet, of which a compound packet has several, until show returns false. It returns
// false then, or if a length is wrong.
func eachPart(b []byte, show func(at int, part []byte) bool) bool {
	if len(b) > crcHeader && b[0] == hasCrcMsg {
		b = b[crcHeader:]
	}
	if len(b) == 0 || b[0] != compoundMsg {
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
	case indirectPingMsg:
		if inClear {
			return false
		}
	case userMsg:
		_, err := broadcast.Parse(b[1:])
		return err == nil
	case pingMsg, ackRespMsg, nackRespMsg, suspectMsg, aliveMsg, deadMsg:
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
	return rest, ok && (incarnation <= aDay || incarnation <= highestIncarnation(time.Now()))
}

const aDay = 24 * 60 * 60

// highestIncarnation is the highest number that is believed. A member contradicts what is said of it with a higher
// incarnation, so one near the end of the numbers would silence it for good. A clock can explain one incarnation for
// each second since 2000, and a day more. Honest members stay far below. A member that is raised to the bound can have
// a higher incarnation a second later.
func highestIncarnation(now time.Time) uint64 {
	return uint64(max(now.Unix()-time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), 0)) + aDay
}

// readPing reads what matters for the answer to a ping.
func readPing(b []byte) (p ping, ok bool) {
	p.size = len(b)
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

// readFields checks the lengths of one map, shows its entries, and returns the bytes behind the map.
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
		case "Error": // is logged
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

// filterStream returns nil if memberlist may see the content of a stream. A header must announce as many nodes, and as
// many bytes behind them, as there are.
func filterStream(b []byte) error {
	if len(b) == 0 {
		return errMalformed
	}
	switch b[0] {
	case pingMsg, ackRespMsg, errMsg:
		if _, ok := readFields(b[1:], nil); !ok {
			return errMalformed
		}
		return nil
	case pushPullMsg:
	default:
		return errMalformed
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
		return errMalformed
	}
	return nil
}

var errMalformed = errors.New("malformed")

var errForeignSeal = errors.New("sealed with another secret")
