// Package ports gives tests loopback ports that no other test has, in this process or in another one.
//
// An agent listens for TCP and UDP on one port that its peers know before it starts, and again after each restart. So a
// test needs a port for as long as it runs, also while nothing listens there. A port is claimed by a listener on the
// same port of another loopback address, which all tests of this machine agree on.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
)

// The ports are below those that systems choose themselves for connections: 49152 and up by IANA, 32768 and up on
// Linux, 16000 and up in some sandboxes.
const lowest, highest = 10_000, 15_999

// claimHost is where claims listen. All of 127/8 is loopback on Linux. Where it is not, nothing can be claimed, and a
// port is only free when it is given.
const claimHost = "127.87.84.80"

// For returns a loopback address with a port that nobody else gets before the test ends.
func For(t testing.TB) string {
	t.Helper()
	addr, release, err := Claim()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return addr
}

// Claim returns a loopback address with a port that is free for TCP and UDP, and that nobody else gets before release
// is called, or this process ends.
func Claim() (addr string, release func(), err error) {
	for range 1000 {
		n := lowest + rand.IntN(highest-lowest+1)
		release, ok := claim(n)
		if !ok {
			continue
		}
		if addr = fmt.Sprintf("127.0.0.1:%d", n); isFree(addr) {
			return addr, release, nil
		}
		release()
	}
	return "", nil, fmt.Errorf("no port from %d to %d is free for both TCP and UDP", lowest, highest)
}

// claim claims a port, and reports whether it could.
func claim(n int) (release func(), ok bool) {
	l, err := net.Listen("tcp4", fmt.Sprintf("%s:%d", claimHost, n))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, false
	case err != nil:
		return func() {}, true
	}
	return func() { _ = l.Close() }, true
}

// isFree reports whether one can listen for TCP and UDP.
func isFree(addr string) bool {
	l, err := net.Listen("tcp4", addr)
	if err != nil {
		return false
	}
	defer func() { _ = l.Close() }()
	p, err := net.ListenPacket("udp4", addr)
	if err != nil {
		return false
	}
	return p.Close() == nil
}
