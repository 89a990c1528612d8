//go:build !linux

package transport

import "net/netip"

// controlSize is 0: on this system the kernel chooses the source address of a datagram.
const controlSize = 0

func localAddress([]byte) netip.Addr { return netip.Addr{} }

func putLocalAddress(*[controlSize]byte, netip.Addr, bool) int { return 0 }
