package kcopies

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// KindToken is <TOKEN, S_T, count>: "the identification of the successor of the message sender as well as the current
// value of the count variable of this node. Moreover, the <TOKEN> message might contain application data" (section
// 2.1). For S_T the message is the token, for others a copy. count is the message's Token.Seq; its Load is
//
//	0        2                                      112
//	+--------+---------------------------------------+
//	|  S_T   |  data                                 |
//	+--------+---------------------------------------+
const KindToken wire.Kind = 40

// Kinds returns the kind of message of a token with k copies.
func Kinds() policy.Kinds {
	return policy.Kinds{{Kind: KindToken, Name: "TOKEN", Part: policy.Passes}}
}

const atData = 2

// Data is the application's part of a TOKEN message, in a layout of its own. Unused bytes are zero.
type Data [wire.LoadSize - atData]byte

func put(l *wire.Load, st Site, data *Data) {
	binary.BigEndian.PutUint16(l[:], uint16(st))
	copy(l[atData:], data[:])
}

// Fields reads the Load of a TOKEN message.
func Fields(l *wire.Load) (st Site, data *Data) {
	return Site(binary.BigEndian.Uint16(l[:])), (*Data)(l[atData:])
}

// WellFormed reports whether m is a valid TOKEN message.
func WellFormed(m *wire.Message) bool {
	return m.Kind == KindToken && m.Token.Seq > 0 && !m.Token.ID.Generator.IsZero() && m.Nonce == 0
}

// Expects reports whether msg could change anything now: it is about this token, and not old (line 23).
func (m *Machine) Expects(msg *wire.Message) bool {
	st, _ := Fields(&msg.Load)
	return msg.Kind == KindToken && m.isNamed(msg.Token.ID) && m.count < msg.Token.Seq && m.inReach(st)
}

// inReach reports whether S_T is this site or one of the k before it: no other site's token is copied to this one.
func (m *Machine) inReach(st Site) bool {
	return int(st) < len(m.cfg.Ring) && m.cfg.Distance(st, m.cfg.Self) <= m.cfg.K
}
