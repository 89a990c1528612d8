package membership

import (
	"net/netip"
	"slices"
	"sync"
)

// lobby holds connections of strangers. It makes room for a new connection by closing the oldest one: the oldest of the same address if this address has
// its full number, else the oldest of all. So no number of idle connections keeps others out.
type lobby struct {
	most, perAddr int

	mu     sync.Mutex
	guests []*guardedConn // the oldest first
}

func (l *lobby) enter(g *guardedConn) {
	l.mu.Lock()
	var out *guardedConn
	same := 0
	for _, other := range slices.Backward(l.guests) {
		if other.from == g.from {
			if same++; same == l.perAddr {
				out = other
			}
		}
	}
	if out == nil && len(l.guests) >= l.most {
		out = l.guests[0]
	}
	l.remove(out)
	l.guests = append(l.guests, g)
	l.mu.Unlock()
	if out != nil {
		_ = out.Close()
	}
}

// leave returns false if g was closed to make room.
func (l *lobby) leave(g *guardedConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.remove(g)
}

func (l *lobby) remove(g *guardedConn) bool {
	at := slices.Index(l.guests, g)
	if at < 0 {
		return false
	}
	l.guests = slices.Delete(l.guests, at, at+1)
	return true
}

// sourceBits of an IPv6 address are one source, because a host has as many addresses as it likes in its network.
const sourceBits = 64

// SourceOf is the address by which a stranger's connections and messages are counted.
func SourceOf(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if network, err := addr.Prefix(sourceBits); err == nil && addr.Is6() {
		return network.Addr()
	}
	return addr
}
