package agent

import "hash/maphash"

// recent remembers the latest values, each under a key that is not 0. A new value replaces the oldest of its row, so
// the table never grows.
type recent[V any] struct {
	rows [][recentWays]kept[V]
	next []uint8
}

const recentWays = 4

type kept[V any] struct {
	value V
	key   uint64
}

func newRecent[V any](rows int) recent[V] {
	return recent[V]{rows: make([][recentWays]kept[V], rows), next: make([]uint8, rows)}
}

// find returns the value under a key; nil if there is none.
func (r *recent[V]) find(key uint64) *V {
	row := &r.rows[key>>32%uint64(len(r.rows))]
	for i := range row {
		if row[i].key == key {
			return &row[i].value
		}
	}
	return nil
}

// add keeps a value under a key that has none yet.
func (r *recent[V]) add(key uint64, value V) {
	at := key >> 32 % uint64(len(r.rows))
	r.rows[at][r.next[at]] = kept[V]{value, key}
	r.next[at] = (r.next[at] + 1) % recentWays
}

// duplicateRows is the number of rows of digests. They hold the last 65,000 datagrams in 512 KiB: minutes, even in a
// fleet whose members send each other a hundred datagrams a second.
const duplicateRows = 1 << 14

// duplicates are the digests of the last authentic datagrams. They let the reader drop a datagram that was recorded and
// is played back, before it is decrypted or takes a place in a queue. Nobody sends the same sealed datagram twice,
// because each has a random nonce; and only a sender with the secret can make a datagram that is remembered. Only the
// reader uses them.
type duplicates struct {
	seed maphash.Seed
	recent[struct{}]
}

func newDuplicates() *duplicates {
	return &duplicates{maphash.MakeSeed(), newRecent[struct{}](duplicateRows)}
}

// digest returns the same number for the same bytes, and never 0.
func (d *duplicates) digest(datagram []byte) uint64 { return maphash.Bytes(d.seed, datagram) | 1 }
