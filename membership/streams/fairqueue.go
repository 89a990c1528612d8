package streams

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	// MaxIncoming is how many incoming connections memberlist serves at a time, maxAnswering how many questions are
	// answered at a time. Further connections wait, MaxWaiting at most.
	MaxIncoming  = 16
	maxAnswering = 8
	// MaxWaiting is how many connections may wait.
	MaxWaiting = 64
	// slowAfter is how long a connection may have a place without having sent its frame while others wait. An honest
	// caller sends the frame with its proof, before it has the place.
	slowAfter = time.Second
	// queueTick is how often a waiting connection looks for a slow one.
	queueTick = 100 * time.Millisecond
	// maxLong is how many long frames come in at a time, because they take memory.
	maxLong = 2
)

// fairQueue has the connections of one purpose that have proved the secret: some are served, the others wait for a
// place. A caller with the secret may still be unverified, and slow on purpose. So the next place goes to the address
// with the fewest places, and a slow connection makes room.
type fairQueue struct {
	most, mostWaiting int

	mu              sync.Mutex
	placed, waiting []*queuedConn // the oldest first
}

// queuedConn is a connection that has a place, or waits for one.
type queuedConn struct {
	queue *fairQueue
	conn  *Conn
	// called is closed when the connection has a place, or no longer waits.
	called chan struct{}
	since  time.Time // when it got its place
	heard  bool      // its frame has come
}

// hold makes an entry for a connection, which is in the queue only after enter.
func (f *fairQueue) hold(conn *Conn) *queuedConn {
	return &queuedConn{queue: f, conn: conn, heard: conn.got, called: make(chan struct{})}
}

// enter lets a connection wait. If too many wait, the address with the most of them loses its oldest one.
func (f *fairQueue) enter(q *queuedConn, now time.Time) {
	f.mu.Lock()
	f.waiting = append(f.waiting, q)
	f.fill(now)
	var out *queuedConn
	if len(f.waiting) > f.mostWaiting {
		out = slices.MaxFunc(f.waiting, byCount(f.waiting))
	}
	f.mu.Unlock()
	if out != nil {
		_ = out.conn.Close()
	}
}

func (f *fairQueue) fill(now time.Time) {
	for len(f.placed) < f.most && len(f.waiting) > 0 {
		next := slices.MinFunc(f.waiting, byCount(f.placed))
		f.waiting = without(f.waiting, next)
		next.since = now
		f.placed = append(f.placed, next)
		close(next.called)
	}
}

// hear records that the frame of a connection has come, and returns false if the connection was sent away before.
func (f *fairQueue) hear(q *queuedConn) bool {
	f.mu.Lock()
	q.heard = true
	f.mu.Unlock()
	return f.has(q)
}

func (f *fairQueue) has(q *queuedConn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.placed, q)
}

// leave gives a place back, or ends the wait.
func (f *fairQueue) leave(q *queuedConn, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.waiting, q) {
		f.waiting = without(f.waiting, q)
		close(q.called)
	}
	f.placed = without(f.placed, q)
	f.fill(now)
}

// relieve closes a slow connection if others wait: the oldest one of the address that has the most places.
func (f *fairQueue) relieve(now time.Time) {
	f.mu.Lock()
	var out *queuedConn
	slow := slices.DeleteFunc(slices.Clone(f.placed), func(g *queuedConn) bool {
		return g.heard || now.Sub(g.since) < slowAfter
	})
	if len(slow) > 0 && len(f.waiting) > 0 {
		out = slices.MaxFunc(slow, byCount(f.placed))
	}
	f.mu.Unlock()
	if out != nil {
		_ = out.conn.Close()
	}
}

// byCount compares connections by how many in a list come from their address.
func byCount(list []*queuedConn) func(a, b *queuedConn) int {
	counts := make(map[netip.Addr]int)
	for _, g := range list {
		counts[g.conn.from]++
	}
	return func(a, b *queuedConn) int { return counts[a.conn.from] - counts[b.conn.from] }
}

func without(list []*queuedConn, q *queuedConn) []*queuedConn {
	return slices.DeleteFunc(list, func(other *queuedConn) bool { return other == q })
}
