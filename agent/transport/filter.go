package transport

import (
	"encoding/binary"
	"net"

	"golang.org/x/net/bpf"
	"golang.org/x/net/ipv4"
)

// udpHeader is the length of the header that a filter on a UDP socket sees before the payload, in bytes.
const udpHeader = 8

// attachFilter makes the kernel drop every datagram that does not begin with prefix. The option belongs to the socket, so x/net's
// ipv4 sets it for IPv6 too.
func attachFilter(conn *net.UDPConn, prefix []byte) error {
	program, err := bpf.Assemble(prefixFilter(prefix))
	if err != nil {
		return err
	}
	return ipv4.NewPacketConn(conn).SetBPF(program)
}

// prefixFilter compares prefix in pieces of four, two and one bytes. A load beyond the end of a datagram drops the datagram.
func prefixFilter(prefix []byte) []bpf.Instruction {
	type piece struct{ offset, size, value uint32 }
	var pieces []piece
	for at := 0; at < len(prefix); {
		rest := prefix[at:]
		p := piece{offset: uint32(udpHeader + at)}
		switch {
		case len(rest) >= 4:
			p.size, p.value = 4, binary.BigEndian.Uint32(rest)
		case len(rest) >= 2:
			p.size, p.value = 2, uint32(binary.BigEndian.Uint16(rest))
		default:
			p.size, p.value = 1, uint32(rest[0])
		}
		pieces = append(pieces, p)
		at += int(p.size)
	}
	const pass, drop = 1 << 16, 0 // how many bytes to keep: more than any datagram has, or none
	program := make([]bpf.Instruction, 0, 3*len(pieces)+1)
	for _, p := range pieces {
		program = append(program,
			bpf.LoadAbsolute{Off: p.offset, Size: int(p.size)},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: p.value, SkipTrue: 1},
			bpf.RetConstant{Val: drop},
		)
	}
	return append(program, bpf.RetConstant{Val: pass})
}
