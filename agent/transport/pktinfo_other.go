//go:build !linux

package transport

import "net/netip"

// controlSize is nothing: on this system the kernel chooses the address that a datagram leaves from.
const controlSize = 0

func localAddress([]byte) netip.Addr { return netip.Addr{} }

func putLocalAddress(*[controlSize]byte, netip.Addr, bool) int { return 0 }
