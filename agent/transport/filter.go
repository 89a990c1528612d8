package transport

import (
	"net"

	"golang.org/x/net/bpf"
	"golang.org/x/net/ipv4"
)

// udpHeader is the length of the header that a filter on a UDP socket sees before the payload, in bytes.
const udpHeader = 8

// attachFilter makes the kernel drop every datagram that does not begin with prefix. The option belongs to the socket,
// so x/net's ipv4 sets it for IPv6 too.
func attachFilter(conn *net.UDPConn, prefix []byte) error {
	program, err := bpf.Assemble(prefixFilter(prefix))
	if err != nil {
		return err
	}
	return ipv4.NewPacketConn(conn).SetBPF(program)
}

// prefixFilter compares byte by byte. A load beyond the end of a datagram drops the datagram.
func prefixFilter(prefix []byte) []bpf.Instruction {
	const pass, drop = 1 << 16, 0 // how many bytes to keep: more than any datagram has, or none
	var program []bpf.Instruction
	for at, b := range prefix {
		program = append(program,
			bpf.LoadAbsolute{Off: uint32(udpHeader + at), Size: 1},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(b), SkipTrue: 1},
			bpf.RetConstant{Val: drop},
		)
	}
	return append(program, bpf.RetConstant{Val: pass})
}
