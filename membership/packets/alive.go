package packets

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"

	"github.com/hashicorp/memberlist"
)

// Alive is a statement of one member that another is alive: a message of a packet, or an entry of a full sync. It
// refers to the bytes from which it was read.
type Alive struct {
	Node, Addr, Meta, Vsn []byte
	Incarnation           uint64
	Port                  uint16
}

// readAlive reads a map of either kind. ok is false if it is no such statement.
func readAlive(b []byte) (a Alive, rest []byte, ok bool) {
	state, port := uint64(memberlist.StateAlive), uint64(0)
	rest, ok = readFields(b, func(key []byte, e field) {
		switch string(key) {
		case "Node", "Name":
			a.Node = e.text
		case "Addr":
			a.Addr = e.text
		case "Meta":
			a.Meta = e.text
		case "Vsn":
			a.Vsn = e.text
		case "Incarnation":
			a.Incarnation = e.number
		case "Port":
			port = e.number
		case "State":
			state = e.number
		}
	})
	a.Port = uint16(port)
	return a, rest, ok && state == uint64(memberlist.StateAlive) && port <= 1<<16-1
}

// Message returns the statement as a packet.
func (a *Alive) Message() []byte {
	text := func(b []byte, key string, value []byte) []byte {
		b = append(append(b, 0xa0|byte(len(key))), key...)
		b = binary.BigEndian.AppendUint16(append(b, 0xda), uint16(len(value)))
		return append(b, value...)
	}
	number := func(b []byte, key string, value uint64) []byte {
		b = append(append(b, 0xa0|byte(len(key))), key...)
		return binary.BigEndian.AppendUint64(append(b, 0xcf), value)
	}
	b := []byte{AliveMsg, 0x80 | 6}
	b = number(b, "Incarnation", a.Incarnation)
	b = text(b, "Node", a.Node)
	b = text(b, "Addr", a.Addr)
	b = number(b, "Port", uint64(a.Port))
	b = text(b, "Meta", a.Meta)
	return text(b, "Vsn", a.Vsn)
}

// Clone returns a copy that shares no bytes.
func (a *Alive) Clone() Alive {
	c := *a
	c.Node, c.Addr, c.Meta, c.Vsn = slices.Clone(a.Node), slices.Clone(a.Addr), slices.Clone(a.Meta),
		slices.Clone(a.Vsn)
	return c
}

// At returns the address that the statement gives for the member.
func (a *Alive) At() (netip.AddrPort, error) {
	return AddrOf(&memberlist.Node{Addr: a.Addr, Port: a.Port})
}

// EachInPacket shows the members that a packet calls alive. The packet must have passed the filter.
func EachInPacket(b []byte, show func(*Alive)) {
	eachPart(b, func(_ int, part []byte) bool {
		if part[0] == AliveMsg {
			if a, _, is := readAlive(part[1:]); is {
				show(&a)
			}
		}
		return true
	})
}

// EachInSync shows the members that a message of a stream calls alive. The message must have passed the filter.
func EachInSync(b []byte, show func(*Alive)) {
	if len(b) == 0 || b[0] != PushPullMsg {
		return
	}
	nodes := uint64(0)
	rest, ok := readFields(b[1:], func(key []byte, e field) {
		if string(key) == "Nodes" {
			nodes = e.number
		}
	})
	for ; ok && nodes > 0 && len(rest) > 0; nodes-- {
		a, after, is := readAlive(rest)
		if is {
			show(&a)
		}
		rest = after
	}
}

// AddrOf returns a node's address, and refuses addresses to which nothing can be sent.
func AddrOf(n *memberlist.Node) (netip.AddrPort, error) {
	ip, ok := netip.AddrFromSlice(n.Addr)
	ip = ip.Unmap()
	if !ok || ip.IsUnspecified() || ip.IsMulticast() || n.Port == 0 {
		return netip.AddrPort{}, errors.New("nobody can send to its address: start it with --advertise")
	}
	return netip.AddrPortFrom(ip, n.Port), nil
}
