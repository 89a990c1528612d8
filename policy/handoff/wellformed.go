package handoff

import "github.com/wanderd/wanderd/wire"

// WellFormed reports whether m is a valid message of a handoff: a Token has the whole token and no nonce; Ack and Commit have a nonce, no
// load, and a token with "a distinguished NULL value" as its generator (Ciuffoletti, section 4). The load of a Token is its protocol's.
func WellFormed(m *wire.Message) bool {
	switch {
	case m.Kind == wire.KindToken:
		return m.Token.IsWhole() && m.Nonce == 0
	case m.Kind.OfHandoff():
		return m.Nonce != 0 && m.Token.Seq > 0 && m.Token == m.Token.Bare() && m.Load == wire.Load{}
	}
	return false
}
