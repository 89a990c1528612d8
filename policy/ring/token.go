package ring

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/wire"
)

// token is the paper's T. What it carries is in its load:
//
//	0         2        3
//	| counter | active | zeros
type token struct {
	wire.Ref
	// counter is the token counter: in Q the requests that T knows of and that are not served, in D how many moves are left.
	counter uint16
	// active is the token state of D: active, or else check.
	active bool
}

// write puts the token into a message.
func (t *token) write(msg *wire.Message) {
	msg.Token = t.Ref
	binary.BigEndian.PutUint16(msg.Load[:2], t.counter)
	if t.active {
		msg.Load[2] = 1
	}
}

// read takes the token out of a message.
func (t *token) read(msg *wire.Message) {
	t.Ref = msg.Token
	t.counter = binary.BigEndian.Uint16(msg.Load[:2])
	t.active = msg.Load[2] == 1
}
