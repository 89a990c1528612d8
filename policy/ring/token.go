package ring

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy/kcopies"
)

// token is what the paper's T carries, as the data of package kcopies:
//
//	0         2        3      5      9      11
//	| counter | active | left | tour | idle | zeros
type token struct {
	// counter is the token counter: in Q the number of known requests that are not served, in D the number of moves
	// left.
	counter uint16
	// active is the token state of D: active if true, check if false.
	active bool
	// left is the number of moves left of a recounting tour in Martin or Q, tour the number of the last tour.
	left uint16
	tour uint32
	// idle is the number of moves in a row, in Q, that met no waiting member.
	idle uint16
}

func (t *token) data() (d kcopies.Data) {
	binary.BigEndian.PutUint16(d[:], t.counter)
	if t.active {
		d[2] = 1
	}
	binary.BigEndian.PutUint16(d[3:], t.left)
	binary.BigEndian.PutUint32(d[5:], t.tour)
	binary.BigEndian.PutUint16(d[9:], t.idle)
	return d
}

// read reads the data of a token in a ring of that many members. No tour is longer than the ring.
func (t *token) read(d *kcopies.Data, members int) {
	t.counter, t.active = binary.BigEndian.Uint16(d[:]), d[2] == 1
	t.left, t.tour = binary.BigEndian.Uint16(d[3:]), binary.BigEndian.Uint32(d[5:])
	t.idle = binary.BigEndian.Uint16(d[9:])
	t.left = uint16(min(int(t.left), members))
}
