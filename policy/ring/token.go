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
	// counter is the token counter: in Q the requests that T knows of and that are not served, in D how many moves are left.
	counter uint16
	// active is the token state of D: active, or else check.
	active bool
	// left is how many moves of a recounting tour of Martin or Q are left, tour its number.
	left uint16
	tour uint32
	// idle is how many moves of Q have met nobody who waits, in a row.
	idle uint16
}

// data is the token as it travels.
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

// read takes the token from what has travelled.
func (t *token) read(d *kcopies.Data) {
	t.counter, t.active = binary.BigEndian.Uint16(d[:]), d[2] == 1
	t.left, t.tour = binary.BigEndian.Uint16(d[3:]), binary.BigEndian.Uint32(d[5:])
	t.idle = binary.BigEndian.Uint16(d[9:])
}
