package agent

// recent remembers the last things by a key that is not 0. A new one takes the place of the oldest of its row, so it
// never grows.
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

// find returns what is kept under a key; nil if that is nothing.
func (r *recent[V]) find(key uint64) *V {
	row := &r.rows[key>>32%uint64(len(r.rows))]
	for i := range row {
		if row[i].key == key {
			return &row[i].value
		}
	}
	return nil
}

// add keeps a value under a key that is not kept yet.
func (r *recent[V]) add(key uint64, value V) {
	at := key >> 32 % uint64(len(r.rows))
	r.rows[at][r.next[at]] = kept[V]{value, key}
	r.next[at] = (r.next[at] + 1) % recentWays
}
