package handoff

import "github.com/wanderd/wanderd/wire"

// Reply returns the message of a handoff that answers m: same gate, exchange and token, sender and addressee exchanged.
// "The acknowledgement and the commitment contain the same fields, but the generator field is set to a distinguished
// NULL value" (Ciuffoletti, section 4). Its load is zero.
func Reply(m *wire.Message, kind wire.Kind, nonce wire.Nonce) (answer wire.Message) {
	reply(&answer, m, kind, nonce)
	return answer
}

// reply fills an empty message so that it answers m.
func reply(answer, m *wire.Message, kind wire.Kind, nonce wire.Nonce) {
	answer.Gate, answer.Kind, answer.From, answer.To = m.Gate, kind, m.To, m.From
	answer.Exchange, answer.Nonce, answer.Token = m.Exchange, nonce, m.Token.Bare()
}
