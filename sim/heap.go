package sim

import "github.com/wanderd/wanderd/policy"

// arity is the number of children in both heaps: four children share a cache line or two, and the tree is half as deep
// as a binary one.
const arity = 4

// key orders everything that will happen: by time, and within the same time in the order of the requests. This makes a
// run a pure function of its seed.
type key struct {
	at  policy.Time
	seq uint64
}

func (k key) before(o key) bool { return k.at < o.at || k.at == o.at && k.seq < o.seq }

// entry is one thing that will happen and cannot be cancelled. An entry that has lost its meaning by then is ignored.
type entry struct {
	key
	kind entryKind
	// who is the member that it happens to. The meaning of slot depends on kind.
	who, slot int32
}

// entryKind is the meaning of an entry, and of its slot.
type entryKind uint8

const (
	// entryDeliver brings the message in slot of Cluster.mail.
	entryDeliver entryKind = iota
	// entryFinished ends the run with the number slot.
	entryFinished
	// entryWanted begins a member's demand for a run, and entryUnwanted withdraws it, if slot is the number of the
	// appointment.
	entryWanted
	entryUnwanted
	// entrySaved ends the save with the number slot.
	entrySaved
	// entryView gives the member the membership's view of its side.
	entryView
	// entryDirective tells the member the newest directive that gossip has on its side.
	entryDirective
	// entryAsk asks the host whether it needs a run, and entryAnswer brings its answer, if slot is the number of the
	// appointment.
	entryAsk
	entryAnswer
	// entryLook lets the member's shell look around: see [Shape].
	entryLook
	// entrySideView gives the view of side slot to all members of that side.
	entrySideView
	// entryRecheck lets the membership check the state of the member.
	entryRecheck
	// entryCall calls the function in slot of Cluster.calls.
	entryCall
)

// queue has its entries in order, the one with the least key first. It allocates only to grow.
type queue struct {
	heap []entry
	// lane has deliveries in their order, beginning with the one at head. Where all messages take equally long, each
	// comes behind those before it and need not go through the heap.
	lane []entry
	head int
}

func (q *queue) push(e entry) {
	if e.kind == entryDeliver && (q.head == len(q.lane) || q.lane[len(q.lane)-1].before(e.key)) {
		if len(q.lane) == cap(q.lane) && 2*q.head >= len(q.lane) {
			q.lane, q.head = q.lane[:copy(q.lane, q.lane[q.head:])], 0
		}
		q.lane = append(q.lane, e)
		return
	}
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / arity
		if !e.before(h[parent].key) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// first returns the least entry. It is nil if there is none.
func (q *queue) first() *entry {
	switch {
	case q.head < len(q.lane) && (len(q.heap) == 0 || q.lane[q.head].before(q.heap[0].key)):
		return &q.lane[q.head]
	case len(q.heap) > 0:
		return &q.heap[0]
	}
	return nil
}

// pop removes and returns the least entry. The queue must not be empty.
func (q *queue) pop() entry {
	h := q.heap
	if q.head < len(q.lane) && (len(h) == 0 || q.lane[q.head].before(h[0].key)) {
		q.head++
		return q.lane[q.head-1]
	}
	least, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	q.heap = h
	if len(h) == 0 {
		return least
	}
	i := 0
	for {
		child := i*arity + 1
		if child >= len(h) {
			break
		}
		best := child
		for j := child + 1; j < min(child+arity, len(h)); j++ {
			if h[j].before(h[best].key) {
				best = j
			}
		}
		if !h[best].before(last.key) {
			break
		}
		h[i] = h[best]
		i = best
	}
	h[i] = last
	return least
}

// slab keeps the values to which entries of the queue refer. It allocates only to grow.
type slab[T any] struct {
	items []T
	free  []int32
}

// reserve returns a slot. The caller writes its content.
func (s *slab[T]) reserve() int32 {
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		return slot
	}
	var zero T
	s.items = append(s.items, zero)
	return int32(len(s.items) - 1)
}

// take returns the value at slot, and frees the slot.
func (s *slab[T]) take(slot int32) T {
	x := s.items[slot]
	var zero T
	s.items[slot] = zero
	s.drop(slot)
	return x
}

// drop frees slot. Its content stays until the slot is used again.
func (s *slab[T]) drop(slot int32) { s.free = append(s.free, slot) }
