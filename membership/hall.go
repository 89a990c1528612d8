package membership

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	// maxIncoming is how many incoming connections memberlist serves at a time, maxAnswering how many questions are answered at a time.
	// Further ones wait, maxWaiting at most.
	maxIncoming  = 16
	maxAnswering = 8
	maxWaiting   = 64
	// slowAfter is how long a connection may have a place without having sent its frame while others wait. An honest caller sends it with its
	// proof, before it has the place.
	slowAfter = time.Second
	// hallTick is how often a connection that waits looks for a slow one.
	hallTick = 100 * time.Millisecond
	// maxLong is how many long frames come in at a time: they take memory.
	maxLong = 2
)

// hall has the connections of one purpose that have proved the secret: some are served, the others wait for a place. A caller with the secret may still be
// a stranger, and slow on purpose. So the next place goes to the address with the fewest places, and a slow connection makes room.
type hall struct {
	most, mostWaiting int

	mu              sync.Mutex
	placed, waiting []*guestInHall // the oldest first
}

type guestInHall struct {
	hall *hall
	conn *guardedConn
	// called is closed when it has a place, or waits no longer.
	called chan struct{}
	since  time.Time // when it got its place
	heard  bool      // its frame has come
}

// guest makes a guest of a connection; it is in the hall after enter.
func (h *hall) guest(conn *guardedConn) *guestInHall {
	return &guestInHall{hall: h, conn: conn, heard: conn.got, called: make(chan struct{})}
}

// enter lets a guest wait. If too many wait, the address with the most waiting guests loses its oldest one.
func (h *hall) enter(guest *guestInHall, now time.Time) {
	h.mu.Lock()
	h.waiting = append(h.waiting, guest)
	h.fill(now)
	var out *guestInHall
	if len(h.waiting) > h.mostWaiting {
		out = slices.MaxFunc(h.waiting, byCount(h.waiting))
	}
	h.mu.Unlock()
	if out != nil {
		_ = out.conn.Close()
	}
}

func (h *hall) fill(now time.Time) {
	for len(h.placed) < h.most && len(h.waiting) > 0 {
		next := slices.MinFunc(h.waiting, byCount(h.placed))
		h.waiting = without(h.waiting, next)
		next.since = now
		h.placed = append(h.placed, next)
		close(next.called)
	}
}

// hear records that the frame of a connection has come, and returns false if it was sent away before.
func (h *hall) hear(guest *guestInHall) bool {
	h.mu.Lock()
	guest.heard = true
	h.mu.Unlock()
	return h.has(guest)
}

func (h *hall) has(guest *guestInHall) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.placed, guest)
}

// leave gives a place back, or ends the wait.
func (h *hall) leave(guest *guestInHall, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Contains(h.waiting, guest) {
		h.waiting = without(h.waiting, guest)
		close(guest.called)
	}
	h.placed = without(h.placed, guest)
	h.fill(now)
}

// relieve closes a slow connection if others wait: the oldest of the address that has most places.
func (h *hall) relieve(now time.Time) {
	h.mu.Lock()
	var out *guestInHall
	slow := slices.DeleteFunc(slices.Clone(h.placed), func(g *guestInHall) bool { return g.heard || now.Sub(g.since) < slowAfter })
	if len(slow) > 0 && len(h.waiting) > 0 {
		out = slices.MaxFunc(slow, byCount(h.placed))
	}
	h.mu.Unlock()
	if out != nil {
		_ = out.conn.Close()
	}
}

// byCount compares guests by how many in a list come from their address.
func byCount(list []*guestInHall) func(a, b *guestInHall) int {
	counts := make(map[netip.Addr]int)
	for _, g := range list {
		counts[g.conn.from]++
	}
	return func(a, b *guestInHall) int { return counts[a.conn.from] - counts[b.conn.from] }
}

func without(list []*guestInHall, guest *guestInHall) []*guestInHall {
	return slices.DeleteFunc(list, func(other *guestInHall) bool { return other == guest })
}
