package handoff

import "github.com/wanderd/wanderd/wire"

// Reply returns the message of a handoff that answers m: same gate, exchange and token, sender and addressee exchanged. "The
// acknowledgement and the commitment contain the same fields, but the generator field is set to a distinguished NULL value" (Ciuffoletti,
// section 4). Its load is zero.
func Reply(m *wire.Message, kind wire.Kind, nonce wire.Nonce) wire.Message {
	return wire.Message{
		Gate: m.Gate, Kind: kind, From: m.To, To: m.From, Exchange: m.Exchange, Nonce: nonce, Token: m.Token.Bare(),
	}
}
