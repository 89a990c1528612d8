//go:build linux

package main

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// The beginning of a connection: the challenge of membership/streams.go, and frames that lie.
const (
	preamble      = "wdg\x03"
	callerNonce   = 32
	acceptorReply = 16 + 16 // a nonce and a proof
	// manyNodes is a push/pull that announces 2^20 nodes. longName is one of a single node whose name has nearly 128
	// KiB.
	manyNodes = "\x06\x83\xa5Nodes\xce\x00\x10\x00\x00\xacUserStateLen\x00\xa4Join\xc2"
	longName  = "\x06\x83\xa5Nodes\x01\xacUserStateLen\x00\xa4Join\xc2\x81\xa4Name\xdb\x00\x01\xff\x00"
	longest   = 128 << 10
	// redial is the pause before a connection that was closed is opened again: with 500 of them, an agent sees up to
	// 2,000 a second.
	redial = 250 * time.Millisecond
)

// introduction returns an introduction that names nobody. Its signature is checked only where keys have to be trusted.
func introduction() string { return "\x01\x01x" + string(make([]byte, 32+2+64)) }

// prove takes the caller's part in the challenge. secret is nil for a caller that has none.
func prove(conn net.Conn, secret *wire.Secret) error {
	nonces, key := make([]byte, callerNonce, callerNonce+acceptorReply), make([]byte, sha256.Size)
	if secret != nil {
		gossip := secret.GossipKey()
		nonces[0], key = secret.Mark(), gossip[:]
	}
	if _, err := conn.Write(append([]byte(preamble), nonces...)); err != nil {
		return err
	}
	reply := make([]byte, acceptorReply)
	if _, err := io.ReadFull(conn, reply); err != nil {
		return err
	}
	proof, err := hkdf.Key(sha256.New, key, append(nonces, reply[:16]...), "wanderd gossip stream v2 caller", 16+32)
	if err != nil {
		return err
	}
	_, err = conn.Write(proof[:16])
	return err
}

// dialAll keeps count connections to each agent, each from a loopback address that no member has, and passes each to
// use. A connection that ends is opened again.
func dialAll(f *fleet, count int, to func(*process) netip.AddrPort, use func(conn net.Conn)) *sync.WaitGroup {
	var working sync.WaitGroup
	dialer := net.Dialer{Timeout: time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 66)}}
	for _, p := range f.agents[:size] {
		for range count {
			working.Go(func() {
				for ; !f.over(); time.Sleep(redial) {
					conn, err := dialer.Dial("tcp4", to(p).String())
					if err != nil {
						continue
					}
					_ = conn.SetDeadline(f.end)
					use(conn)
					_ = conn.Close()
				}
			})
		}
	}
	return &working
}

// hold waits until the other side closes the connection, or the attack is over.
func hold(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// besieged attacks with connections and measures how long a new member takes to join meanwhile.
func besieged(count int, use func(conn net.Conn)) func(f *fleet) (string, error) {
	return func(f *fleet) (string, error) {
		working := dialAll(f, count, func(p *process) netip.AddrPort { return p.addr }, use)
		time.Sleep(f.length / 5)
		note, err := f.joins("m9")
		working.Wait()
		return note, err
	}
}

func tenBytes(conn net.Conn) {
	_, _ = conn.Write([]byte(preamble + "0123456789"))
	hold(conn)
}

// fill takes part in the challenge without the secret, and sends a frame with the given beginning, filled to length.
func fill(begin string, length int) func(net.Conn) {
	frame := make([]byte, max(length, len(begin)))
	copy(frame, begin)
	frame = append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
	return func(conn net.Conn) { present(conn, nil, frame) }
}

// present takes part in the challenge, sends a frame, and waits.
func present(conn net.Conn, secret *wire.Secret, frame []byte) {
	if prove(conn, secret) != nil {
		return
	}
	if _, err := conn.Write(frame); err == nil {
		hold(conn)
	}
}

// neverEnd holds connections on which a frame of the given length lacks its last byte. If the fleet has a secret, it
// uses that.
func neverEnd(length int) func(f *fleet) (string, error) {
	return func(f *fleet) (string, error) {
		secret, err := f.secret()
		if err != nil {
			return "", err
		}
		frame := append(binary.BigEndian.AppendUint32(nil, uint32(length)), make([]byte, length-1)...)
		return besieged(64, func(conn net.Conn) { present(conn, secret, frame) })(f)
	}
}
