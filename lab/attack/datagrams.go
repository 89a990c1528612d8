//go:build linux

package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

func idle(*fleet) (string, error) { return "", nil }

// pace calls send rate times a second, in bursts of a millisecond, until the attack is over. It returns the number of
// calls.
func pace(f *fleet, rate int, send func(i int)) (sent int) {
	for ; !f.over(); time.Sleep(time.Millisecond) {
		for due := int(time.Since(f.start).Seconds() * float64(rate)); sent < due; sent++ {
			send(sent)
			if sent%256 == 0 && f.over() {
				return sent
			}
		}
	}
	return sent
}

func rate(f *fleet, sent int) string {
	return fmt.Sprintf("%d datagrams/s sent", int(float64(sent)/time.Since(f.start).Seconds()))
}

// attackSocket opens a socket on a loopback address that no member has.
func attackSocket(host string) (*net.UDPConn, error) {
	return net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(host), 0)))
}

// junk sends random bytes after each of the beginnings that pass the kernel's filter.
func junk(f *fleet) (string, error) {
	datagrams := make([][]byte, 64)
	for i := range datagrams {
		class := []wire.Class{wire.ClassGossip, wire.ClassSealed, wire.ClassClear, 9}[i%4]
		datagrams[i] = append([]byte{'w', 'd', wire.Version, byte(class)}, make([]byte, 400+mrand.IntN(400))...)
		_, _ = rand.Read(datagrams[i][wire.EnvelopeSize:])
	}
	before := f.figures()
	sent := pace(f, 100_000, func(i int) {
		f.send(datagrams[mrand.IntN(len(datagrams))], f.agents[i%size].addr)
	})
	after := f.figures()
	return fmt.Sprintf("%s, %.1f µs of CPU for each that was sent to an agent", rate(f, sent),
		after.most(&before)*1e6*size/float64(sent)), nil
}

// forge sends Tokens to two agents in the name of each other member, with new handoffs and wrong signatures. If there
// is no secret, anybody can read the names.
func forge(f *fleet) (string, error) {
	heard, err := record(f, 3*time.Second, 1000)
	if err != nil {
		return "", err
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	codec, err := wire.NewCodec(key, nil)
	if err != nil {
		return "", err
	}
	last := make(map[netip.AddrPort]wire.Message) // for each agent
	names := make(map[wire.MemberID]bool)
	for _, d := range heard {
		if got, drop := codec.Open(d.bytes); drop == 0 && got.Message.Kind == handoff.KindToken {
			last[d.to], names[got.Message.To] = got.Message, true
		}
	}
	var tokens []datagram
	for _, p := range f.agents[:2] {
		m, ok := last[p.addr]
		for name := range names {
			for range 100 {
				if m.From, m.Exchange = name, wire.Exchange(mrand.Uint64()); ok && name != m.To {
					tokens = append(tokens, datagram{bytes: codec.Append(nil, &m), to: p.addr})
				}
			}
		}
	}
	mrand.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
	if len(tokens) == 0 {
		return "", errors.New("no Token was heard")
	}
	f.begin()
	sent := pace(f, 60_000, func(i int) {
		d := &tokens[i%len(tokens)]
		f.send(d.bytes, d.to)
	})
	return rate(f, sent), nil
}

// playBack replays the datagrams that it has heard, unchanged.
func playBack(f *fleet) (string, error) {
	heard, err := record(f, 20*time.Second, 1<<16)
	if err != nil {
		return "", err
	}
	f.begin()
	sent := pace(f, 15_000*size, func(i int) {
		d := &heard[i%len(heard)]
		f.send(d.bytes, d.to)
	})
	return fmt.Sprintf("%s of %d heard", rate(f, sent), len(heard)), nil
}

// reflect sends the shortest pings, which name a third address for the answer, and counts which bytes arrive where.
func reflect(f *fleet) (string, error) {
	third, err := attackSocket("127.0.0.77")
	if err != nil {
		return "", err
	}
	defer func() { _ = third.Close() }()
	at := third.LocalAddr().(*net.UDPAddr).AddrPort()
	host := at.Addr().As4()
	// memberlist's ping in msgpack: a map with an address and a port for the answer, and one without.
	elsewhere := append([]byte{0, 0x82, 0xaa}, "SourceAddr\xa4"...)
	elsewhere = append(append(elsewhere, host[:]...), "\xaaSourcePort\xcd"...)
	elsewhere = binary.BigEndian.AppendUint16(elsewhere, at.Port())
	pings := [][]byte{wire.AppendGossip(nil, unsigned([]byte{0, 0x80})), wire.AppendGossip(nil, unsigned(elsewhere))}
	toAttacker, toThird := counted(f.conn), counted(third)
	bytes := 0
	pace(f, 2000, func(i int) {
		n, _ := f.conn.WriteToUDPAddrPort(pings[i%2], f.agents[i/2%size].addr)
		bytes += n
	})
	_ = f.conn.SetReadDeadline(time.Now())
	_ = third.SetReadDeadline(time.Now())
	back, elsewhereBytes := <-toAttacker, <-toThird
	if back > bytes || elsewhereBytes > 0 {
		f.exceeded = append(f.exceeded, "bytes sent for bytes that came")
	}
	return fmt.Sprintf("of each byte came %.2f back and %.2f to the third address", float64(back)/float64(bytes),
		float64(elsewhereBytes)/float64(bytes)), nil
}

// counted counts the bytes that arrive at a socket until its deadline.
func counted(conn *net.UDPConn) <-chan int {
	total := make(chan int, 1)
	go func() {
		sum, _ := io.Copy(io.Discard, conn)
		total <- int(sum)
	}()
	return total
}
