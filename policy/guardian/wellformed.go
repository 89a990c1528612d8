package guardian

import "github.com/wanderd/wanderd/wire"

// WellFormed reports whether m is a valid message between holder and guardians: all have the whole token, a Beat has its number, an Ask
// and a Heard the question's identity, and a Heard the time since the holder was heard.
func WellFormed(m *wire.Message) bool {
	if !m.Token.IsWhole() {
		return false
	}
	switch k := m.Kind; {
	case k == wire.KindBeat:
		return m.Nonce != 0
	case k == wire.KindAsk:
		return m.Nonce == 0 && m.Handoff != 0
	case k == wire.KindHeard:
		return m.Nonce != 0 && m.Handoff != 0
	case k == wire.KindKnown || k == wire.KindBuried || k == wire.KindYield:
		return m.Nonce == 0
	}
	return false
}
