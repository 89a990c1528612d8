package ballot_test

import (
	"bytes"
	"hash/maphash"
	"slices"
	"unsafe"

	"github.com/wanderd/wanderd/wire"
)

// What a state is recognised by: the state of its gates, apart from which numbers were drawn, and the messages that may
// arrive. A state is not explored if an equal one was explored from which as many messages may arrive.

var smallSeed = maphash.MakeSeed()

// hash is of values with plain memory.
type hash struct{ maphash.Hash }

func newHash() *hash {
	var h hash
	h.SetSeed(smallSeed)
	return &h
}

func (h *hash) number(n uint64) { _, _ = h.Write(raw(&n)) }

// situation hashes a state without its messages, and without drawn numbers: everything that can be judged.
func (h *hash) situation(s *small) {
	for i := range s.gates {
		h.number(s.gates[i].form.hash)
		_, _ = h.Write(s.disk[i][:])
		_, _ = h.Write(raw(&s.run[i]))
	}
	h.number(uint64(s.now))
	h.number(uint64(s.crashes)<<32 | uint64(s.hops))
	h.number(uint64(s.newest))
}

// raw is the memory of a value.
func raw[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// mail are messages as numbers of the explorer, in their order.
type mail struct{ pending, arrived []uint32 }

// covers reports whether everything that may follow with the other messages may also follow with these: at least as
// many may arrive (a message that may arrive may also be lost), and no more have arrived, because those do not come
// again.
func (m *mail) covers(o *mail) bool {
	return includes(m.pending, o.pending) && includes(o.arrived, m.arrived)
}

// includes reports whether all of a sorted list are in another one, as often.
func includes(all, some []uint32) bool {
	for _, n := range some {
		for len(all) > 0 && all[0] < n {
			all = all[1:]
		}
		if len(all) == 0 || all[0] != n {
			return false
		}
		all = all[1:]
	}
	return true
}

// isNew reports whether a state has to be explored: no state that covers it has been visited.
func (x *explorer) isNew(s *small) bool {
	key, m := s.whole(), mail{}
	if !x.naive {
		key, m = x.known(s)
	}
	was := x.seen[key]
	for i := range was {
		if was[i].covers(&m) {
			return false
		}
	}
	was = slices.DeleteFunc(was, func(o mail) bool { return m.covers(&o) })
	x.seen[key] = append(was, m)
	return true
}

// naming gives drawn numbers the names by which a state is recognised: the first number that occurs twice is 1, and so
// on. Numbers that occur once are not distinguished.
type naming struct {
	ids   []uint64
	count []int
	as    []uint64
	last  uint64
}

// once is the name of all numbers that occur once.
const once = 1 << 63

func (n *naming) meet(id uint64) {
	i := slices.Index(n.ids, id)
	switch {
	case id == 0:
	case i >= 0:
		n.count[i]++
	default:
		n.ids, n.count, n.as = append(n.ids, id), append(n.count, 1), append(n.as, 0)
	}
}

func (n *naming) of(id uint64) uint64 {
	i := slices.Index(n.ids, id)
	switch {
	case id == 0:
		return 0
	case i < 0 || n.count[i] == 1:
		return once
	case n.as[i] == 0:
		n.last++
		n.as[i] = n.last
	}
	return n.as[i]
}

// nameAll counts all drawn numbers of a state.
func (s *small) nameAll() (n naming) {
	for i := range s.gates {
		for _, id := range s.gates[i].form.drawn {
			n.meet(id)
		}
	}
	for _, list := range [][]sent{s.pending, s.arrived} {
		for i := range list {
			n.meet(uint64(list[i].exchange))
			n.meet(uint64(list[i].nonce))
		}
	}
	for i := range s.gates {
		for _, id := range s.gates[i].form.finished {
			if slices.Contains(n.ids, id) {
				n.meet(id)
			}
		}
	}
	return n
}

// known returns what a state is recognised by.
func (x *explorer) known(s *small) (key uint64, m mail) {
	h, n := newHash(), s.nameAll()
	h.situation(s)
	for i := range s.gates {
		for _, id := range s.gates[i].form.drawn {
			h.number(n.of(id))
		}
	}
	m.pending, m.arrived = x.numbersOf(&n, s.pending), x.numbersOf(&n, s.arrived)
	for i := range s.gates {
		finished := slices.Clone(s.gates[i].form.finished)
		for k, id := range finished {
			finished[k] = n.of(id)
		}
		slices.Sort(finished)
		for _, name := range finished {
			h.number(name)
		}
	}
	return h.Sum64(), m
}

// whole returns a hash of all that a state has.
func (s *small) whole() uint64 {
	h := newHash()
	h.situation(s)
	for i := range s.gates {
		for _, id := range slices.Concat(s.gates[i].form.drawn, s.gates[i].form.finished) {
			h.number(id)
		}
	}
	for _, list := range [][]sent{s.pending, s.arrived} {
		sorted := slices.SortedFunc(slices.Values(list), func(a, b sent) int { return bytes.Compare(raw(&a), raw(&b)) })
		for i := range sorted {
			_, _ = h.Write(raw(&sorted[i]))
		}
		h.number(uint64(len(list)))
	}
	return h.Sum64()
}

// numbersOf returns the numbers of messages, in their order.
func (x *explorer) numbersOf(n *naming, list []sent) []uint32 {
	all := make([]uint32, len(list))
	for i, m := range list {
		m.exchange, m.nonce = wire.Exchange(n.of(uint64(m.exchange))), wire.Nonce(n.of(uint64(m.nonce)))
		number, ok := x.numbers[m]
		if !ok {
			number = uint32(len(x.numbers))
			x.numbers[m] = number
		}
		all[i] = number
	}
	slices.Sort(all)
	return all
}
