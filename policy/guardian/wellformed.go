package guardian

import "github.com/wanderd/wanderd/wire"

// WellFormed reports whether m is a message between holder and guardians, and has what these have: all of them the whole token, a Beat
// its number, an Ask and a Heard the question's identity, and a Heard how long ago that was.
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
