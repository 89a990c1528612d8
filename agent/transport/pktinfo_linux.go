package transport

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlSize is the room for the control messages (cmsg(3), ip(7), ipv6(7)) of a datagram, in bytes: for one with a local address, and for one
// that nobody has asked for.
const controlSize = 64

// localAddress returns the destination address of a datagram; the zero Addr if control does not contain it.
func localAddress(control []byte) netip.Addr {
	for len(control) > 0 {
		header, info, rest, err := unix.ParseOneSocketControlMessage(control)
		switch {
		case err != nil:
			return netip.Addr{}
		case header.Level == unix.IPPROTO_IP && header.Type == unix.IP_PKTINFO && len(info) >= unix.SizeofInet4Pktinfo:
			return netip.AddrFrom4((*unix.Inet4Pktinfo)(unsafe.Pointer(&info[0])).Spec_dst)
		case header.Level == unix.IPPROTO_IPV6 && header.Type == unix.IPV6_PKTINFO && len(info) >= unix.SizeofInet6Pktinfo:
			return netip.AddrFrom16((*unix.Inet6Pktinfo)(unsafe.Pointer(&info[0])).Addr).Unmap()
		}
		control = rest
	}
	return netip.Addr{}
}

// putLocalAddress writes a control message that makes src the source address of a datagram, and returns its length. If v4 is set,
// the socket is IPv4 only, and the length is 0 for an IPv6 address.
func putLocalAddress(control *[controlSize]byte, src netip.Addr, v4 bool) int {
	src = src.Unmap()
	header, info := (*unix.Cmsghdr)(unsafe.Pointer(control)), unsafe.Pointer(&control[unix.SizeofCmsghdr])
	size := unix.SizeofInet6Pktinfo
	switch {
	case !v4:
		header.Level, header.Type = unix.IPPROTO_IPV6, unix.IPV6_PKTINFO
		(*unix.Inet6Pktinfo)(info).Addr = src.As16()
	case src.Is4():
		size = unix.SizeofInet4Pktinfo
		header.Level, header.Type = unix.IPPROTO_IP, unix.IP_PKTINFO
		(*unix.Inet4Pktinfo)(info).Spec_dst = src.As4()
	default:
		return 0
	}
	header.SetLen(unix.CmsgLen(size))
	return unix.CmsgSpace(size)
}
