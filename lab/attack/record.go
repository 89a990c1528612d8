//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// datagram is a datagram that was heard on its way to an agent.
type datagram struct {
	bytes []byte
	to    netip.AddrPort
}

// record listens on loopback for what the agents send each other.
func record(f *fleet, length time.Duration, most int) ([]datagram, error) {
	const ip = unix.ETH_P_IP<<8&0xff00 | unix.ETH_P_IP>>8
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, ip)
	if err != nil {
		return nil, fmt.Errorf("not run, cannot listen on loopback: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: ip, Ifindex: lo.Index}); err != nil {
		return nil, err
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000}); err != nil {
		return nil, err
	}
	var heard []datagram
	buf := make([]byte, 1<<16)
	for end := time.Now().Add(length); time.Now().Before(end) && len(heard) < most; {
		n, from, err := unix.Recvfrom(fd, buf, 0)
		link, ok := from.(*unix.SockaddrLinklayer)
		// Each packet on loopback is seen twice: as it leaves and as it arrives.
		if err != nil || !ok || link.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		if to, payload, ok := parseUDP(buf[:n]); ok &&
			slices.ContainsFunc(f.agents, func(p *process) bool { return p.addr == to }) {
			heard = append(heard, datagram{bytes: append([]byte(nil), payload...), to: to})
		}
	}
	if len(heard) == 0 {
		return nil, errors.New("nothing was heard")
	}
	return heard, nil
}

// parseUDP reads an IPv4 packet that carries a whole UDP datagram.
func parseUDP(b []byte) (to netip.AddrPort, payload []byte, ok bool) {
	if len(b) < 20 || b[9] != unix.IPPROTO_UDP {
		return to, nil, false
	}
	header := int(b[0]&15) * 4
	if len(b) < header+8 {
		return to, nil, false
	}
	port := binary.BigEndian.Uint16(b[header+2:])
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[16:20])), port), b[header+8:], true
}
