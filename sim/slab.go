package sim

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
