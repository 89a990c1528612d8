package membership

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"

	"github.com/hashicorp/memberlist"
)

// alive is what one member says of another that is alive: a message of a packet, or an entry of a full sync. It refers
// to the bytes from which it was read.
type alive struct {
	node, addr, meta, vsn []byte
	incarnation           uint64
	port                  uint16
}

// readAlive reads a map of either kind. ok is false if it says something else.
func readAlive(b []byte) (a alive, rest []byte, ok bool) {
	state, port := uint64(memberlist.StateAlive), uint64(0)
	rest, ok = readFields(b, func(key []byte, e field) {
		switch string(key) {
		case "Node", "Name":
			a.node = e.text
		case "Addr":
			a.addr = e.text
		case "Meta":
			a.meta = e.text
		case "Vsn":
			a.vsn = e.text
		case "Incarnation":
			a.incarnation = e.number
		case "Port":
			port = e.number
		case "State":
			state = e.number
		}
	})
	a.port = uint16(port)
	return a, rest, ok && state == uint64(memberlist.StateAlive) && port <= 1<<16-1
}

// message returns the statement as a packet.
func (a *alive) message() []byte {
	text := func(b []byte, key string, value []byte) []byte {
		b = append(append(b, 0xa0|byte(len(key))), key...)
		b = binary.BigEndian.AppendUint16(append(b, 0xda), uint16(len(value)))
		return append(b, value...)
	}
	number := func(b []byte, key string, value uint64) []byte {
		b = append(append(b, 0xa0|byte(len(key))), key...)
		return binary.BigEndian.AppendUint64(append(b, 0xcf), value)
	}
	b := []byte{aliveMsg, 0x80 | 6}
	b = number(b, "Incarnation", a.incarnation)
	b = text(b, "Node", a.node)
	b = text(b, "Addr", a.addr)
	b = number(b, "Port", uint64(a.port))
	b = text(b, "Meta", a.meta)
	return text(b, "Vsn", a.vsn)
}

// clone returns a copy that shares no bytes.
func (a *alive) clone() alive {
	c := *a
	c.node, c.addr, c.meta, c.vsn = slices.Clone(a.node), slices.Clone(a.addr), slices.Clone(a.meta), slices.Clone(a.vsn)
	return c
}

func (a *alive) at() (netip.AddrPort, error) {
	return addrOf(&memberlist.Node{Addr: a.addr, Port: a.port})
}

// eachInPacket shows the members that a packet calls alive. The filter has passed the packet.
func eachInPacket(b []byte, show func(*alive)) {
	eachPart(b, func(_ int, part []byte) bool {
		if part[0] == aliveMsg {
			if a, _, is := readAlive(part[1:]); is {
				show(&a)
			}
		}
		return true
	})
}

// eachInSync shows the members that a message of a stream calls alive. The filter has passed the message.
func eachInSync(b []byte, show func(*alive)) {
	if len(b) == 0 || b[0] != pushPullMsg {
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

// addrOf refuses addresses to which nobody can send.
func addrOf(n *memberlist.Node) (netip.AddrPort, error) {
	ip, ok := netip.AddrFromSlice(n.Addr)
	ip = ip.Unmap()
	if !ok || ip.IsUnspecified() || ip.IsMulticast() || n.Port == 0 {
		return netip.AddrPort{}, errors.New("nobody can send to its address: start it with --advertise")
	}
	return netip.AddrPortFrom(ip, n.Port), nil
}
