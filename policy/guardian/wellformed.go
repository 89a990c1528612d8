package guardian

import "github.com/wanderd/wanderd/wire"

// WellFormed reports whether m is a valid message between holder and guardians. Each kind has the whole token with a
// valid trail; a heartbeat and a Keep have the heartbeat's number; an Ask, a Heard, a Keep and a Kept have the
// question's identity; and a Heard has the time since the holder was heard. The rest of the load is the protocol's.
func WellFormed(m *wire.Message) bool {
	if !m.Token.IsWhole() || !WellFormedTrail(&m.Load) {
		return false
	}
	switch k := m.Kind; {
	case k == KindHeartbeat:
		return m.Nonce != 0
	case k == KindAsk:
		return m.Nonce == 0 && m.Exchange != 0
	case k == KindHeard:
		return m.Nonce != 0 && m.Exchange != 0
	case k == KindKnown || k == KindTombstone || k == KindYield:
		return m.Nonce == 0
	case k == KindKeep:
		return countOf(m) != 0 && m.Exchange != 0
	case k == KindKept:
		return m.Exchange != 0
	}
	return false
}
