package streams

import (
	"net/netip"
	"slices"
	"sync"
)

// preAuthLimit bounds the connections that have not proved the secret yet. It makes room for a new one by closing the
// oldest one of the same address if this address has its full number, and otherwise the oldest of all. So no number of
// idle connections keeps others out.
type preAuthLimit struct {
	most, perAddr int

	mu    sync.Mutex
	conns []*Conn // the oldest first
}

func (l *preAuthLimit) enter(g *Conn) {
	l.mu.Lock()
	var out *Conn
	same := 0
	for _, other := range slices.Backward(l.conns) {
		if other.from == g.from {
			if same++; same == l.perAddr {
				out = other
			}
		}
	}
	if out == nil && len(l.conns) >= l.most {
		out = l.conns[0]
	}
	l.remove(out)
	l.conns = append(l.conns, g)
	l.mu.Unlock()
	if out != nil {
		_ = out.Close()
	}
}

// leave returns false if g was closed to make room.
func (l *preAuthLimit) leave(g *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.remove(g)
}

func (l *preAuthLimit) remove(g *Conn) bool {
	at := slices.Index(l.conns, g)
	if at < 0 {
		return false
	}
	l.conns = slices.Delete(l.conns, at, at+1)
	return true
}

// sourceBits is how many leading bits of an IPv6 address identify a source, because a host can have as many addresses
// in its network as it likes.
const sourceBits = 64

// SourceOf returns the address under which connections and messages of unproved senders are counted.
func SourceOf(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if network, err := addr.Prefix(sourceBits); err == nil && addr.Is6() {
		return network.Addr()
	}
	return addr
}
