package handoff

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/wire"
)

// WellFormed reports whether m is a valid message of a handoff: a Token has the whole token and no nonce; Ack and
// Commit have a nonce, and a token with "a distinguished NULL value" as its generator (Ciuffoletti, section 4). The
// load of a Token is its protocol's, the load of a Commit is the rest of a lease, and the load of an Ack is zero.
func WellFormed(m *wire.Message) bool {
	switch {
	case m.Kind == KindToken:
		return m.Token.IsWhole() && m.Nonce == 0
	case Owns(m.Kind):
		var load wire.Load
		if left := leftOf(&m.Load); m.Kind == KindCommit && left > 0 {
			binary.BigEndian.PutUint64(load[:], uint64(left))
		}
		return m.Nonce != 0 && m.Token.Seq > 0 && m.Token == m.Token.Bare() && m.Load == load
	}
	return false
}
