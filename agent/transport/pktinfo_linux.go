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
	atLevel     = unix.SizeofCmsghdr - 8
	atType      = atLevel + 4
	atInfo      = unix.SizeofCmsghdr
	local4      = 4  // in in_pktinfo
	controlSize = 64 // room for one message, and for an unrequested one beside it
)

// localAddress returns the destination address of a datagram; the zero Addr if control does not contain it.
func localAddress(control []byte) netip.Addr {
	for len(control) >= unix.SizeofCmsghdr {
		header, info, rest, err := unix.ParseOneSocketControlMessage(control)
		switch {
		case err != nil:
			return netip.Addr{}
		case header.Level == unix.IPPROTO_IP && header.Type == unix.IP_PKTINFO && len(info) >= unix.SizeofInet4Pktinfo:
			return netip.AddrFrom4([4]byte(info[local4:]))
		case header.Level == unix.IPPROTO_IPV6 && header.Type == unix.IPV6_PKTINFO &&
			len(info) >= unix.SizeofInet6Pktinfo:
			return netip.AddrFrom16([16]byte(info)).Unmap()
		}
		control = rest
	}
	return netip.Addr{}
}

// putLocalAddress writes a control message that makes src the source address of a datagram, and returns its length. If
// v4 is true, the socket is IPv4 only, and the length is 0 for an IPv6 address.
func putLocalAddress(control *[controlSize]byte, src netip.Addr, v4 bool) int {
	src = src.Unmap()
	if v4 && src.Is6() {
		return 0
	}
	level, kind, size := uint32(unix.IPPROTO_IPV6), uint32(unix.IPV6_PKTINFO), unix.SizeofInet6Pktinfo
	if v4 {
		level, kind, size = unix.IPPROTO_IP, unix.IP_PKTINFO, unix.SizeofInet4Pktinfo
		address := src.As4()
		copy(control[atInfo+local4:], address[:])
	} else {
		address := src.As16()
		copy(control[atInfo:], address[:])
	}
	if atLevel == 8 {
		binary.NativeEndian.PutUint64(control[:], uint64(unix.CmsgLen(size)))
	} else {
		binary.NativeEndian.PutUint32(control[:], uint32(unix.CmsgLen(size)))
	}
	binary.NativeEndian.PutUint32(control[atLevel:], level)
	binary.NativeEndian.PutUint32(control[atType:], kind)
	return unix.CmsgSpace(size)
}
