package transport

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// A control message (cmsg(3), ip(7), ipv6(7)) that carries a local address:
//
//	 0 +---------------------------+
//	   | length of the message     |  a size_t: 8 bytes, or 4 on a 32-bit system
//	   +---------------------------+
//	   | level                   4 |  IPPROTO_IP, or IPPROTO_IPV6
//	   +---------------------------+
//	   | type                    4 |  IP_PKTINFO, or IPV6_PKTINFO
//	   +---------------------------+
//	   | interface 4 | local     4 |  IPv4: in_pktinfo
//	   | header's destination    4 |
//	   +---------------------------+
//	or | address 16 | interface  4 |  IPv6: in6_pktinfo
//	   +---------------------------+
const (
	sizeSize    = unix.SizeofCmsghdr - 8
	atLevel     = sizeSize
	atType      = atLevel + 4
	atInfo      = unix.SizeofCmsghdr
	atLocal4    = atInfo + 4
	atLocal6    = atInfo
	used4       = atInfo + unix.SizeofInet4Pktinfo
	used6       = atInfo + unix.SizeofInet6Pktinfo
	controlSize = 64 // room for one, and for an unrequested one beside it
)

// localAddress returns the destination address of a datagram; the zero Addr if control does not contain it.
func localAddress(control []byte) netip.Addr {
	for len(control) >= atInfo {
		length := cmsgLength(control)
		if length < atInfo || length > len(control) {
			break
		}
		level, kind := binary.NativeEndian.Uint32(control[atLevel:]), binary.NativeEndian.Uint32(control[atType:])
		switch {
		case level == unix.IPPROTO_IP && kind == unix.IP_PKTINFO && length >= used4:
			return netip.AddrFrom4([4]byte(control[atLocal4:]))
		case level == unix.IPPROTO_IPV6 && kind == unix.IPV6_PKTINFO && length >= used6:
			return netip.AddrFrom16([16]byte(control[atLocal6:])).Unmap()
		}
		control = control[min(align(length), len(control)):]
	}
	return netip.Addr{}
}

// putLocalAddress writes a control message that makes src the source address of a datagram, and returns its length. If v4 is set,
// the socket is IPv4 only, and the length is 0 for an IPv6 address.
func putLocalAddress(control *[controlSize]byte, src netip.Addr, v4 bool) int {
	src = src.Unmap()
	if v4 && src.Is6() {
		return 0
	}
	level, kind, used := uint32(unix.IPPROTO_IPV6), uint32(unix.IPV6_PKTINFO), used6
	if v4 {
		level, kind, used = unix.IPPROTO_IP, unix.IP_PKTINFO, used4
		address := src.As4()
		copy(control[atLocal4:], address[:])
	} else {
		address := src.As16()
		copy(control[atLocal6:], address[:])
	}
	putCmsgLength(control[:], used)
	binary.NativeEndian.PutUint32(control[atLevel:], level)
	binary.NativeEndian.PutUint32(control[atType:], kind)
	return align(used)
}

func cmsgLength(control []byte) int {
	if sizeSize == 8 {
		return int(binary.NativeEndian.Uint64(control))
	}
	return int(binary.NativeEndian.Uint32(control))
}

func putCmsgLength(control []byte, length int) {
	if sizeSize == 8 {
		binary.NativeEndian.PutUint64(control, uint64(length))
		return
	}
	binary.NativeEndian.PutUint32(control, uint32(length))
}

// align rounds up to the start of the next control message.
func align(length int) int { return (length + sizeSize - 1) &^ (sizeSize - 1) }
