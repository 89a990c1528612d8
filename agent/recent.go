package agent

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
