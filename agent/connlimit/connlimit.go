// Package connlimit bounds the connections of an HTTP server. Without a bound, anybody who may connect could take all
// file descriptors of the agent, and without descriptors it can neither gossip nor start a hook.
package connlimit

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// Bound lets a server have at most most connections; a further one closes the oldest. A connection that a handler has
// taken over no longer counts. Call Bound before Serve.
func Bound(server *http.Server, most int) {
	l := list{most: most}
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			l.add(conn)
		case http.StateClosed, http.StateHijacked:
			l.remove(conn)
		case http.StateActive, http.StateIdle:
		}
	}
}

type list struct {
	most int

	mu    sync.Mutex
	conns []net.Conn // the oldest first
}

func (l *list) add(conn net.Conn) {
	l.mu.Lock()
	l.conns = append(l.conns, conn)
	var out net.Conn
	if len(l.conns) > l.most {
		out = l.conns[0]
		l.conns = slices.Delete(l.conns, 0, 1)
	}
	l.mu.Unlock()
	if out != nil {
		_ = out.Close()
	}
}

func (l *list) remove(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = slices.DeleteFunc(l.conns, func(other net.Conn) bool { return other == conn })
}
