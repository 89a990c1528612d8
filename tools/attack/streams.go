package main

import (
	"net"
	"sync"
	"time"
)

// preamble begins a connection; after it come the beginning of a sealed stream of 4 MiB, a push/pull that announces 2^20 nodes, or one of a
// single node whose name has nearly 4 MiB.
const (
	preamble  = "wdg\x01"
	sealed    = preamble + "\x0a\x00\x40\x00\x00\x01"
	manyNodes = preamble + "\x06\x83\xa5Nodes\xce\x00\x10\x00\x00\xacUserStateLen\x00\xa4Join\xc2"
	longName  = preamble + "\x06\x83\xa5Nodes\x01\xacUserStateLen\x00\xa4Join\xc2\x81\xa4Name\xdb\x00\x3f\xff\x00"
)

// dialAll keeps count connections to each agent, each from an address of loopback that no member has, and gives each to use. A
// connection that ends is opened again.
func dialAll(f *fleet, count int, use func(conn net.Conn)) *sync.WaitGroup {
	var working sync.WaitGroup
	dialer := net.Dialer{Timeout: time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 66)}}
	for _, p := range f.agents[:size] {
		for range count {
			working.Go(func() {
				for ; !f.over(); time.Sleep(20 * time.Millisecond) {
					conn, err := dialer.Dial("tcp4", p.addr.String())
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
func hold(conn net.Conn) {
	buf := make([]byte, 512)
	for {
		if _, err := conn.Read(buf); err != nil {
			return
		}
	}
}

// besieged attacks with connections and sees how long a new member takes to join meanwhile.
func besieged(f *fleet, count int, use func(conn net.Conn)) (string, error) {
	working := dialAll(f, count, use)
	time.Sleep(f.length / 5)
	note, err := f.joins("m9")
	working.Wait()
	return note, err
}

func idleConnections(f *fleet) (string, error) { return besieged(f, 500, hold) }

func tenBytes(f *fleet) (string, error) {
	return besieged(f, 32, func(conn net.Conn) {
		_, _ = conn.Write([]byte(sealed))
		hold(conn)
	})
}

// fill sends a beginning and then as much as the other side takes.
func fill(begin string) func(net.Conn) {
	return func(conn net.Conn) {
		zeros := make([]byte, 64<<10)
		if _, err := conn.Write([]byte(begin)); err != nil {
			return
		}
		for range (4 << 20) / len(zeros) {
			if _, err := conn.Write(zeros); err != nil {
				return
			}
		}
		hold(conn)
	}
}

func fillSealed(f *fleet) (string, error) {
	return besieged(f, 16, fill(sealed))
}

func fillClear(f *fleet) (string, error) {
	return besieged(f, 16, fill(longName))
}

func announceNodes(f *fleet) (string, error) {
	return besieged(f, 16, func(conn net.Conn) {
		_, _ = conn.Write([]byte(manyNodes))
		hold(conn)
	})
}
